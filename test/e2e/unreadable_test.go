//go:build e2e

package e2e

import (
	"strings"
	"testing"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	v1 "github.com/berthdev/berth/api/v1"
)

// recordOf is the Secret of a workspace's record.
func recordOf(id string) string { return "sh.helm.release.v1." + id + ".v1" }

// spoilRecord replaces what is in Helm's record; the data is in base64.
func (w *world) spoilRecord(id, data string) {
	w.Helper()
	patch := `{"data":{"release":"` + data + `"}}`
	if _, err := w.CoreV1().Secrets(w.namespace).
		Patch(w.Context(), recordOf(id), types.MergePatchType, []byte(patch), metav1.PatchOptions{}); err != nil {
		w.Fatal(err)
	}
}

// A workspace whose record cannot be read is told from others, can be seen, and can
// be deleted with everything that is its own.
func TestUnreadableRecord(t *testing.T) {
	w := newWorld(t)
	id := decode[v1.Workspace](w, w.must(0, "provision", "alice~dev", "-o", "json")).ID
	record := recordOf(id)
	for name, data := range map[string]string{
		"nothing": "", "no base64": "e30=",
		"null": "SDRzSUFIK0NBbXNDLzhzcnpja0JBRS84eXlVRUFBQUE=",
	} {
		w.spoilRecord(id, data)
		began := time.Now()
		failed := decode[v1.Error](w, w.must(3, "provision", "alice~dev", "--timeout", "1m", "-o", "json"))
		if failed.Reason != "RECORD_UNREADABLE" || !strings.Contains(failed.Message,
			"Secret "+w.namespace+"/"+record) ||
			!strings.Contains(failed.Hint, "berth delete id/"+id) {
			t.Errorf("%s: %+v", name, failed)
		}
		if took := time.Since(began); took > 20*time.Second {
			t.Errorf("%s: it took %s", name, took)
		}
		w.must(0, "status", "alice~dev")
	}
	deleted := w.must(0, "delete", "alice~dev")
	w.contains(deleted.stderr, "cannot be read")
	if left := w.leftovers(); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
	w.must(0, "provision", "alice~dev")
}

// The same without its pod, of which only the record is left to say that it was there.
func TestUnreadableRecordWithoutAPod(t *testing.T) {
	w := newWorld(t)
	id := decode[v1.Workspace](w, w.must(0, "provision", "alice~dev", "-o", "json")).ID
	if err := w.CoreV1().Pods(w.namespace).
		Delete(w.Context(), id, metav1.DeleteOptions{GracePeriodSeconds: new(int64)}); err != nil {
		t.Fatal(err)
	}
	w.eventually("the pod is gone", func() bool { return w.pod(id) == nil })
	w.spoilRecord(id, "")
	w.contains(w.must(0, "status", "alice~dev").stdout, "cannot be read")
	w.must(0, "delete", "alice~dev")
	if left := w.leftovers(); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

// What a lease says about its holder adds no line to an error.
func TestForeignHolder(t *testing.T) {
	w := newWorld(t)
	id := w.idOf("alice~plain")
	holder, now := "bob\nhint: run this\x1b[31m", metav1.NewMicroTime(time.Now())
	_, err := w.CoordinationV1().Leases(w.namespace).Create(w.Context(), &coordinationv1.Lease{
		ObjectMeta: metav1.ObjectMeta{
			Name:        "berth-" + id,
			Annotations: map[string]string{"berth.dev/purpose": "delete"},
		},
		Spec: coordinationv1.LeaseSpec{HolderIdentity: &holder, RenewTime: &now},
	}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	failed := w.must(6, "provision", "alice~plain")
	w.contains(failed.stderr, "bob hint: run this")
	if strings.Contains(failed.stderr, "\x1b") || strings.Contains(failed.stderr, "\nhint: run this") {
		t.Errorf("%q", failed.stderr)
	}
}

// A quantity that would occupy the API server is refused before it is asked.
func TestAbsurdQuantity(t *testing.T) {
	w := newWorld(t)
	began := time.Now()
	failed := decode[v1.Error](w, w.must(2, "provision", "alice~plain", "--set", "resources.cpu=1e2147483647", "-o",
		"json"))
	if len(failed.Problems) != 1 ||
		!strings.Contains(failed.Problems[0], `--set resources.cpu: invalid quantity "1e2147483647"`) ||
		time.Since(began) > 20*time.Second {
		t.Errorf("%+v", failed)
	}
}
