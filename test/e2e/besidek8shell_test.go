//go:build e2e

package e2e

import (
	"fmt"
	"strings"
	"testing"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
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
