package controller

import (
	"net/http"
	"path"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/lifecycle"
)

// What is gone by the time that it is adopted, or is going, is not recorded, and nobody is
// told; what may not be read is told.
func TestAdopt(t *testing.T) {
	for name, test := range map[string]struct {
		change func(w *world, at string)
		says   string
		taken  bool
	}{
		"it runs":         {func(*world, string) {}, `msg=adopted`, true},
		"its pod is gone": {func(w *world, at string) { w.deletePod(path.Base(at)) }, "", false},
		"its pod is ending": {func(w *world, at string) {
			pod := w.server.Get(at)
			now := metav1.Now()
			pod.SetDeletionTimestamp(&now)
			w.server.Put(at, pod)
		}, "", false},
		"somebody has recorded it": {
			func(w *world, at string) { w.want(path.Base(at), v1.DesiredStopped) },
			"desired=Stopped", true,
		},
		"it may not be recorded": {func(w *world, _ string) {
			w.requests.Set(http.StatusForbidden, func(_ int,
				request string,
			) bool {
				return request == "post configmaps"
			})
		}, `level=WARN msg="a workspace cannot be adopted" workspace=team.alice`, false},
	} {
		w := newWorld(t)
		id := w.provision("alice")
		k := newKnown()
		k.seeAll([]v1.Workspace{seen(id, v1.StageRunning)})
		test.change(w, "/api/v1/namespaces/team/pods/"+id)
		w.adopt(t.Context(), k, false)
		r, _ := k.of("team." + id)
		if (r.ID != "") != test.taken || (test.says == "") != (w.lines.String() == "") ||
			!strings.Contains(w.lines.String(), test.says) {
			t.Errorf("%s: %s, and it says %s", name, r, w.lines)
		}
	}
}

// What is left of a workspace without pods, and of which that may not be read: something may
// be left then, and the others do not wait.
func TestLookForRemains(t *testing.T) {
	for name, test := range map[string]struct {
		code  int
		kept  bool
		says  string
		fails bool
	}{
		"it is there": {http.StatusOK, true, "", false},
		"it may not be read": {
			http.StatusForbidden, true,
			`level=WARN msg="a workspace cannot be looked for" workspace=team.alice`, false,
		},
		"the API server is away": {http.StatusInternalServerError, true, "", true},
	} {
		w := newWorld(t)
		id := w.provision("alice")
		w.deletePod(id)
		k := newKnown()
		k.replaceRecords([]lifecycle.Record{
			recordOf(id, v1.DesiredTerminated, v1.ActualStopped),
			recordOf("bob-1234567", v1.DesiredTerminated, v1.ActualStopped),
			recordOf("No_Name", v1.DesiredTerminated, v1.ActualStopped),
		})
		w.requests.Set(test.code, func(int, string) bool { return test.code != http.StatusOK })
		err := w.lookForRemains(t.Context(), k, false)
		if _, s := k.of("team." + id); s.Kept != test.kept || (err != nil) != test.fails {
			t.Errorf("%s: %+v, %v", name, s, err)
		}
		if got := w.lines.String(); (test.says == "") != (got == "") || !strings.Contains(got, test.says) {
			t.Errorf("%s: it says %s", name, got)
		}
		w.requests.Set(0, nil)
		if err := w.lookForRemains(t.Context(), k, true); err != nil {
			t.Error(err)
		}
		for other, kept := range map[string]bool{"team." + id: true, "team.bob-1234567": false, "team.No_Name": false} {
			if _, s := k.of(other); s.Kept != kept {
				t.Errorf("%s, then in full: %s %+v", name, other, s)
			}
		}
	}
}
