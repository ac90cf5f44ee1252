package commands_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/commands/cmdtest"
	"github.com/berthdev/berth/internal/kube"
	"github.com/berthdev/berth/internal/kubetest"
	"github.com/berthdev/berth/internal/lifecycle"
	"github.com/berthdev/berth/internal/lock"
	"github.com/berthdev/berth/internal/release"
	"github.com/berthdev/berth/internal/schematest"
)

const alice = "alice-a975fae"

// standing is a cluster with alice's workspace, as one exchange after the other finds it.
type standing struct {
	*testing.T
	client  kubernetes.Interface
	records lifecycle.Records
}

func newStanding(t *testing.T) standing {
	t.Helper()
	cmdtest.Offline(t)
	server := kubetest.Start(t, nil)
	cmdtest.Cluster(t, server.URL)
	cmdtest.Must(t, 0, "provision", "alice")
	client, err := kubernetes.NewForConfig(&rest.Config{
		Host:          server.URL,
		ContentConfig: rest.ContentConfig{ContentType: "application/json"},
	})
	if err != nil {
		t.Fatal(err)
	}
	place := lifecycle.Place{Client: &kube.Client{Interface: client, Namespace: "team"}}
	return standing{t, client, place.Of("team")}
}

// reconcile makes an exchange, and returns what was done about alice's workspace.
func (s standing) reconcile(status int, flags ...string) (w v1.ReconciledWorkspace) {
	s.Helper()
	stdout, _ := cmdtest.Must(s.T, status, append([]string{"reconcile", "--trust-records", "-o", "json"}, flags...)...)
	schematest.Validate(s.T, []byte(stdout))
	var document v1.WorkspaceReconciliation
	if err := json.Unmarshal([]byte(stdout), &document); err != nil {
		s.Fatal(err)
	}
	if len(document.Items) > 0 {
		w = document.Items[0]
	}
	return w
}

func (s standing) record() lifecycle.Record {
	s.Helper()
	r, err := s.records.Get(s.Context(), alice)
	if err != nil {
		s.Fatal(err)
	}
	return r
}

// want records what is wanted, as a command does that is killed right after.
func (s standing) want(desired v1.DesiredState) {
	s.Helper()
	_, err := s.records.Change(s.Context(), alice,
		func(r lifecycle.Record) (lifecycle.Record, error) { return r.Set(desired, time.Now().UTC()) })
	if err != nil {
		s.Fatal(err)
	}
}

func (s standing) deletePod() {
	s.Helper()
	if err := s.client.CoreV1().Pods("team").Delete(s.Context(), alice, metav1.DeleteOptions{}); err != nil {
		s.Fatal(err)
	}
}

// expect fails unless the exchange did that, and the record says that then.
func (s standing) expect(when string, w v1.ReconciledWorkspace, did string, desired v1.DesiredState,
	actual v1.ActualState,
) {
	s.Helper()
	r := s.record()
	if w.Done != did || w.Error != nil || r.Desired != desired || r.Actual != actual || r.Pending() {
		s.Errorf("%s: did %q (%v), and it is %s, pending %t; want %q, %s, %s", when, w.Done, w.Error, r, r.Pending(),
			did, desired, actual)
	}
}

// What was wanted and is not so comes about by one exchange after the other, and nothing is
// done twice.
func TestReconcile(t *testing.T) {
	s := newStanding(t)
	s.expect("adopted", s.reconcile(0), "", v1.DesiredRunning, v1.ActualRunning)
	s.expect("nothing to do", s.reconcile(0), "", v1.DesiredRunning, v1.ActualRunning)
	s.want(v1.DesiredStopped)
	s.expect("a stop that was killed", s.reconcile(0), "stop", v1.DesiredStopped, v1.ActualStopped)
	s.expect("stopped", s.reconcile(0), "", v1.DesiredStopped, v1.ActualStopped)
	s.expect("stopped, in full", s.reconcile(0, "--full"), "", v1.DesiredStopped, v1.ActualStopped)
	s.want(v1.DesiredRunning)
	s.expect("a start that was killed", s.reconcile(0), "start", v1.DesiredRunning, v1.ActualRunning)
	s.want(v1.DesiredRestart)
	s.expect("a restart that was killed", s.reconcile(0), "start", v1.DesiredRunning, v1.ActualRunning)
	s.deletePod()
	s.expect("the pod was deleted", s.reconcile(0), "start", v1.DesiredRunning, v1.ActualRunning)
	s.want(v1.DesiredTerminated)
	if w := s.reconcile(0); w.Done != "delete" || s.record().ID != "" {
		t.Errorf("a deletion that was killed: did %q, and %s is left", w.Done, s.record())
	}
	if _, stderr := cmdtest.Must(t, 7, "status", "alice"); !strings.Contains(stderr, "not found") {
		t.Error(stderr)
	}
}

// One that is installed and has neither a pod nor a record was not stopped, which would be
// recorded: it is started, unless it is being worked on; releases of others are left alone.
func TestReconcilePodlessWithoutRecord(t *testing.T) {
	s := newStanding(t)
	s.deletePod()
	chart, err := release.Chart()
	if err != nil {
		t.Fatal(err)
	}
	foreign := release.NewRecord("bob-1234567", "team", &release.Rendered{Chart: chart}, time.Now())
	release.Deployed(foreign, time.Now())
	if err := (release.Records{Secrets: s.client.CoreV1().Secrets("team"), Namespace: "team"}).
		Create(t.Context(), foreign); err != nil {
		t.Fatal(err)
	}
	somebody := lock.Locker{
		Leases: s.client.CoordinationV1().Leases("team"), Namespace: "team", Now: time.Now,
		Self: lock.Holder{User: "somebody", Host: "elsewhere", PID: 1, Started: "1", Nonce: "1"},
	}
	held, _, err := somebody.Try(t.Context(), alice, nil)
	if err != nil || held == nil {
		t.Fatal(held, err)
	}
	for _, args := range [][]string{nil, {"--full"}} {
		s.reconcile(0, args...)
		if r := s.record(); r.ID != "" {
			t.Fatalf("somebody works on it, and it is %s", r)
		}
	}
	held.Release(t.Context())
	s.expect("its pod is gone", s.reconcile(0), "start", v1.DesiredRunning, v1.ActualRunning)
	all, _, err := s.records.List(t.Context())
	if err != nil || len(all) != 1 {
		t.Errorf("%v is recorded, error %v", all, err)
	}
	s.expect("again", s.reconcile(0), "", v1.DesiredRunning, v1.ActualRunning)
}

// A workspace that somebody else has removed is an error that says so, until it is deleted
// or provisioned again.
func TestReconcileMissing(t *testing.T) {
	for _, desired := range []v1.DesiredState{v1.DesiredRunning, v1.DesiredStopped, v1.DesiredRestart} {
		t.Run(string(desired), func(t *testing.T) {
			s := newStanding(t)
			s.reconcile(0)
			s.want(desired)
			s.deletePod()
			secrets := s.client.CoreV1().Secrets("team")
			if err := secrets.DeleteCollection(t.Context(), metav1.DeleteOptions{},
				metav1.ListOptions{LabelSelector: "owner=helm"}); err != nil {
				t.Fatal(err)
			}
			for range 2 {
				w := s.reconcile(3, "--full")
				if w.Error == nil || !strings.Contains(w.Error.Message, "somebody has removed it") {
					t.Errorf("%+v", w)
				}
				if r := s.record(); r.Actual != v1.ActualError ||
					!strings.Contains(r.Cause, "somebody has removed it") {
					t.Errorf("%s: %s", r, r.Cause)
				}
			}
			stdout, _ := cmdtest.Must(t, 0, "status", "alice")
			if !strings.Contains(stdout, "somebody has removed it") {
				t.Errorf("status says\n%s", stdout)
			}
			cmdtest.Must(t, 0, "delete", "alice")
			if r := s.record(); r.ID != "" {
				t.Errorf("after its deletion there is %s", r)
			}
		})
	}
}

// A workspace whose deletion was interrupted is not said to run, whatever is asked for, until
// it is deleted; the storage stays if that was wanted.
func TestInterruptedDeletion(t *testing.T) {
	s := newStanding(t)
	s.reconcile(0)
	_, err := s.records.Change(t.Context(), alice, func(r lifecycle.Record) (lifecycle.Record, error) {
		r.KeepStorage = true
		return r.Set(v1.DesiredTerminated, time.Now().UTC())
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, command := range []string{
		"provision alice", "provision alice --if-not-exists", "start alice", "stop alice",
		"restart alice", "update alice",
	} {
		if _, stderr := cmdtest.Must(t, 6, strings.Fields(command)...); !strings.Contains(stderr, "is being deleted") ||
			!strings.Contains(stderr, "berth delete id/"+alice+" --namespace team --keep-storage") {
			t.Errorf("berth %s: %s", command, stderr)
		}
	}
	if list, _ := cmdtest.Must(t, 0, "status"); !strings.Contains(list, "it is being deleted") {
		t.Errorf("status says\n%s", list)
	}
	if w := s.reconcile(0); w.Done != "delete" || s.record().ID != "" {
		t.Errorf("%+v, and there is %s", w, s.record())
	}
}

// A record that cannot be read keeps nobody from deleting the workspace, and is named.
func TestDamagedRecord(t *testing.T) {
	s := newStanding(t)
	s.reconcile(0)
	maps := s.client.CoreV1().ConfigMaps("team")
	damaged, err := maps.Get(t.Context(), "berth-state-"+alice, metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	damaged.Data["record"] = "x"
	if _, err := maps.Update(t.Context(), damaged, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	if _, stderr := cmdtest.Must(t, 3, "reconcile"); !strings.Contains(stderr, "the record of workspace "+alice+
		" cannot be read") {
		t.Error(stderr)
	}
	if _, stderr := cmdtest.Must(t, 3, "stop", "alice"); !strings.Contains(stderr, "delete the ConfigMap berth-state-"+
		alice) {
		t.Error(stderr)
	}
	cmdtest.Must(t, 0, "delete", "alice")
	if r := s.record(); r.ID != "" {
		t.Errorf("there is %s", r)
	}
	cmdtest.Must(t, 0, "provision", "alice")
}
