//go:build e2e

package e2e

import (
	"strings"
	"testing"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/kube"
)

// A workspace that this run has injected and that fails is taken out again, if
// that is asked for: the workload is as it was.
func TestOnFailureEjects(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		kind, blueprint string
		status          int
	}{
		{"deployment", "wrong-tag", 3},
		{"statefulset", "wrong-tag", 3},
		{"daemonset", "crashing", 3},
		{"deployment", "huge", 5},
	} {
		t.Run(test.kind+" "+test.blueprint, func(t *testing.T) {
			w := newWorld(t)
			tg := w.workload(test.kind, 1, nil)
			before := tg.template()
			args := []string{"provision", tg.user(test.blueprint), "--on-failure", "delete", "-o", "json"}
			if test.status == 5 {
				args = append(args, "--timeout", "15s")
			}
			e := decode[v1.Error](w, w.must(test.status, args...))
			if e.Left != v1.LeftDeleted || e.Workspace == nil || e.Workspace.Cause == nil || len(e.Problems) > 0 {
				t.Errorf("%+v", e)
			}
			tg.clean(before)
			w.eventually("the workload has recovered", func() bool { return tg.ready() == 1 && len(tg.pods()) == 1 })
			w.must(7, "status", tg.user(test.blueprint))
		})
	}
}

// It is kept, with the reason, if it existed before this run or was changed by
// another since.
func TestOnFailureKeepsWhatIsNotItsOwn(t *testing.T) {
	w := newWorld(t)
	tg := w.workload("deployment", 1, nil)
	before := tg.template()
	w.must(3, "provision", tg.user("wrong-tag"))
	e := decode[v1.Error](w, w.must(3, "provision", tg.user("wrong-tag"), "--on-failure", "delete", "-o", "json"))
	if e.Left != v1.LeftKept || !strings.Contains(strings.Join(e.Problems, " "),
		"not taken out of deployment/web: it existed before this run") {
		t.Errorf("there before: %+v", e)
	}
	w.must(0, "delete", tg.user("wrong-tag"))
	tg.clean(before)

	run := w.start("provision", tg.user("huge"), "--timeout", "20s", "--on-failure", "delete")
	run.waitFor("Scheduling")
	tg.patch(`{"spec":{"template":{"metadata":{"labels":{"` + kube.LabelJobID + `":"somebody-elses"}}}}}`)
	r := run.wait()
	r.mustBe(w, 5)
	w.contains(r.stderr, "not taken out of deployment/web: it was injected again or relabelled", "kept")
	if tg.template() == before {
		t.Error("it was taken out")
	}
	w.must(0, "delete", tg.user("huge"))
	tg.clean(before)
}
