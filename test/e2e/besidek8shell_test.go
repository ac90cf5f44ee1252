//go:build e2e

package e2e

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/berthdev/berth/internal/rbac"
)

const compat = "compat: k8shell\n"

// A workspace that has its ID by k8shell's scheme is found by its user string without the setting as well, and one that
// has berth's own ID with it. An ID that the cluster refuses is refused before.
func TestBesideK8shell(t *testing.T) {
	w := newWorld(t)
	dir := w.blueprints("name: plain", "name: Plain")
	w.configured(compat, "provision", "alice~Plain", "--blueprints", dir, "--timeout", "0").mustBe(w, 0)
	id := strings.TrimSpace(w.must(0, "status", "alice~Plain", "-o", "jsonpath={.id}").stdout)
	if id != "alice-b5d7440" { // sha256sum of u=alice|bp=Plain
		t.Errorf("its ID is %q", id)
	}
	w.configured(compat, "provision", "alice~Plain", "--blueprints", dir).mustBe(w, 6)
	for _, verb := range []string{"stop", "start", "restart", "delete"} {
		w.must(0, verb, "alice~Plain")
	}
	r := w.configured(compat, "provision", "jo_smith~plain")
	r.mustBe(w, 2)
	w.contains(r.stderr, "in k8shell's scheme, which is not a valid name")
	w.must(0, "provision", "jo_smith~plain")
	w.configured(compat, "provision", "jo_smith~plain", "--if-not-exists").mustBe(w, 0)
	w.configured(compat, "delete", "jo_smith~plain").mustBe(w, 0)
	w.nothingIsLeft()
}

// While k8shell holds its lock, berth waits or fails, and while berth works it holds k8shell's.
func TestLockersOfBothKinds(t *testing.T) {
	w := newWorld(t)
	leases, id := w.CoordinationV1().Leases(w.namespace), w.idOf("alice~plain")
	name, now, seconds := "workspace-lease-"+id, metav1.NewMicroTime(time.Now()), int32(30)
	holder := fmt.Sprintf("provisioner-%d", now.UnixNano())
	theirs := &coordinationv1.Lease{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: coordinationv1.LeaseSpec{
			HolderIdentity: &holder, LeaseDurationSeconds: &seconds, AcquireTime: &now, RenewTime: &now,
		},
	}
	if _, err := leases.Create(t.Context(), theirs, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	r := w.configured(compat, "provision", "alice~plain")
	r.mustBe(w, 6)
	w.contains(r.stderr, "k8shell's provisioner is working on workspace "+id)
	if _, err := w.CoreV1().Pods(w.namespace).Get(t.Context(), id, metav1.GetOptions{}); err == nil {
		t.Error("berth has made a pod meanwhile")
	}
	watch, err := leases.Watch(t.Context(), metav1.ListOptions{FieldSelector: "metadata.name=" + name})
	if err != nil {
		t.Fatal(err)
	}
	defer watch.Stop()
	if err := leases.Delete(t.Context(), name, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	w.configured(compat, "provision", "alice~plain", "--timeout", "0").mustBe(w, 0)
	seen := ""
	w.eventually("berth has taken k8shell's lock and given it back", func() bool {
		select {
		case e := <-watch.ResultChan():
			if lease, is := e.Object.(*coordinationv1.Lease); is && *lease.Spec.HolderIdentity != holder {
				seen += string(e.Type) + " "
			}
		default:
		}
		return strings.HasPrefix(seen, "ADDED ") && strings.HasSuffix(seen, "DELETED ")
	})
	w.configured(compat, "delete", "alice~plain").mustBe(w, 0)
	w.nothingIsLeft()
}

// Records in one NATS of the cluster: berth shows one as k8shell writes it, and a decoder of k8shell's contract reads
// one of berth's.
func TestRecordsOfBothKinds(t *testing.T) {
	w := newWorld(t)
	w = w.as(w.role(rbac.Developer()), w.role(rbac.Named(rbac.JobsInNATS)))
	w.installNATS()
	config := w.natsConfig()
	berth := func(args ...string) func() result {
		return func() result { return w.finish(w.withVariable("BERTH_CONFIG="+config, args...)) }
	}
	w.fromNATS(berth("provision", "alice~plain", "--if-not-exists")).mustBe(w, 0)
	conn, err := nats.Connect("nats://"+w.forwarded(w.podsOfNATS()[0].Name, "4222"),
		nats.UserInfo("berth", "berth-test"))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	js, err := jetstream.New(conn)
	if err != nil {
		t.Fatal(err)
	}
	bucket, err := js.KeyValue(t.Context(), "workspace-provision-jobs")
	if err != nil {
		t.Fatal(err)
	}
	keys, err := bucket.Keys(t.Context())
	if err != nil || len(keys) == 0 {
		t.Fatalf("%q: %v", keys, err)
	}
	entry, err := bucket.Get(t.Context(), keys[0])
	if err != nil {
		t.Fatal(err)
	}
	var ours theirRecord
	if err := json.Unmarshal(entry.Value(), &ours); err != nil || ours.ID != keys[0] || ours.Username != "alice" ||
		ours.Status != "completed" || ours.FinishedAt.IsZero() || ours.WorkspaceName != w.idOf("alice~plain") {
		t.Errorf("%v: %s", err, entry.Value())
	}
	status := "" // the last one
	for i, e := range ours.Events {
		if e.Type == "status" {
			status = e.Status
		}
		if _, err := time.Parse(time.DateTime, e.Timestamp); err != nil || e.ID != i+1 || e.ObjectName == "" ||
			!slices.Contains([]string{"event", "status", "progress"}, e.Type) {
			t.Errorf("%v: entry %d is %+v", err, i+1, e)
		}
	}
	if status != "Running" {
		t.Errorf("its last status is %q: %s", status, entry.Value())
	}
	const id = "0c8f1d5e-7f0e-4a55-9d0b-0f2f6a3c9a11"
	if _, err := bucket.PutString(t.Context(), id, `{"id":"`+id+`","workspaceName":"bob-6d1c2a0","username":"bob",`+
		`"status":"running","createdAt":"2026-11-20T12:00:00Z","updatedAt":"2026-11-20T12:00:02Z",`+
		`"finishedAt":"0001-01-01T00:00:00Z","events":[{"id":1,"type":"status","timestamp":"2026-11-20 12:00:01",`+
		`"objectName":"bob-6d1c2a0","message":"Waiting for the pod","status":"Starting"},{"id":2,"type":"event",`+
		`"timestamp":"2026-11-20 12:00:02","objectName":"Pod/bob-6d1c2a0","message":"Scheduled: on node1",`+
		`"status":""}]}`); err != nil {
		t.Fatal(err)
	}
	w.contains(w.fromNATS(berth("jobs")).stdout, "bob-6d1c2a0", w.idOf("alice~plain"))
	w.contains(w.fromNATS(berth("jobs", "0c8f")).stdout, "bob", "Scheduled: on node1")
}

// theirRecord is a record as k8shell decodes it.
type theirRecord struct {
	ID, WorkspaceName, Username, Status string
	CreatedAt, UpdatedAt, FinishedAt    time.Time
	Events                              []struct {
		ID                                           int
		Type, Timestamp, ObjectName, Message, Status string
	}
}
