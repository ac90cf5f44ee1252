//go:build e2e

package e2e

import (
	"testing"

	v1 "github.com/berthdev/berth/api/v1"
)

// What only a person can change is not waited for any longer than --stuck-after says. That
// is no reason to delete anything.
func TestStuckAfter(t *testing.T) {
	w := newWorld(t)
	web := w.workloadThatIsNot("deployment", 1, missingVolume)
	r := w.must(3, "provision", web.user("plain"), "--stuck-after", "5s", "--on-failure", "delete", "-o", "json")
	e := decode[v1.Error](w, r)
	if e.Reason != "STUCK" || e.Left != v1.LeftKept || e.Workspace == nil || e.Workspace.Cause == nil ||
		e.Workspace.Cause.Code != "VolumeMissingObject" {
		t.Errorf("%+v", e)
	}
	w.contains(r.stderr, "stuck: this will not resolve by itself", "gave up after", "no-such-config")
	if len(web.pods()) == 0 {
		t.Error("its pod is gone")
	}

	r = w.must(3, "provision", "alice~classless", "--stuck-after", "5s", "--on-failure", "delete", "-o", "json")
	if e := decode[v1.Error](w, r); e.Left != v1.LeftKept || e.Workspace == nil || e.Workspace.Cause == nil ||
		e.Workspace.Cause.Code != "StorageClassMissing" {
		t.Errorf("%+v", e)
	}
	if w.pod(w.idOf("alice~classless")) == nil {
		t.Error("its pod is gone")
	}
}
