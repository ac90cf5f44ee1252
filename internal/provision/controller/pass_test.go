package controller

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/kubetest"
	"github.com/berthdev/berth/internal/lifecycle"
)

// scenario is a workspace that a pass has something to do about.
type scenario struct {
	made func(w *world, id string) // after its pod runs, without a record
	did  Action
	pod  bool // it has one afterwards
	// desired and actual are what is recorded afterwards; empty for no record.
	desired v1.DesiredState
	actual  v1.ActualState
}

func scenarios() map[string]scenario {
	return map[string]scenario{
		"a pod without a record": {func(*world, string) {}, Nothing, true, v1.DesiredRunning, v1.ActualRunning},
		"a release without a pod or a record": {
			func(w *world, id string) { w.deletePod(id) }, Start, true, v1.DesiredRunning, v1.ActualRunning,
		},
		"one that is to be stopped": {
			func(w *world, id string) { w.want(id, v1.DesiredStopped) }, Stop, false, v1.DesiredStopped,
			v1.ActualStopped,
		},
		"one that is to be started": {
			func(w *world, id string) {
				w.deletePod(id)
				w.want(id, v1.DesiredStopped)
				w.want(id, v1.DesiredRunning)
			}, Start, true, v1.DesiredRunning, v1.ActualRunning,
		},
		"one that is to be restarted": {
			func(w *world, id string) { w.want(id, v1.DesiredRestart) }, Start, true, v1.DesiredRunning,
			v1.ActualRunning,
		},
		"one that is to be deleted, and whose pod is gone": {
			func(w *world, id string) {
				w.deletePod(id)
				w.want(id, v1.DesiredTerminated)
			}, Delete, false, "", "",
		},
		"one that is to be deleted": {
			func(w *world, id string) { w.want(id, v1.DesiredTerminated) }, Delete, false, "", "",
		},
		"one whose pod was evicted": {
			func(w *world, id string) { w.endPod(id, corev1.PodFailed, "Evicted") }, Start, true,
			v1.DesiredRunning, v1.ActualRunning,
		},
		"one whose pod has ended": {
			func(w *world, id string) { w.endPod(id, corev1.PodSucceeded, "") }, Start, true,
			v1.DesiredRunning, v1.ActualRunning,
		},
		"one whose pod is over and is to stop": {
			func(w *world, id string) {
				w.endPod(id, corev1.PodFailed, "Evicted")
				w.want(id, v1.DesiredStopped)
			}, Stop, false, v1.DesiredStopped, v1.ActualStopped,
		},
		"one whose pod somebody has deleted": {
			func(w *world, id string) {
				w.want(id, v1.DesiredRunning)
				w.deletePod(id)
			}, Start, true, v1.DesiredRunning, v1.ActualRunning,
		},
	}
}

// is says in which way the workspace is not what it is to be after a pass; empty if it is.
func (s scenario) is(w *world, id string) string {
	w.t.Helper()
	r, pods := w.record(id), w.pods()
	if (len(pods) == 1) != s.pod || r.Desired != s.desired || r.Actual != s.actual || r.Pending() {
		return fmt.Sprintf("it is %s, pending %t, and its pods are %q", r, r.Pending(), pods)
	}
	return ""
}

// A pass brings about what is wanted and is not so, in one go, says what it did, and leaves
// nothing to do for the next one.
func TestPass(t *testing.T) {
	for name, s := range scenarios() {
		w := newWorld(t)
		id := w.provision("alice")
		s.made(w, id)
		for _, want := range []Action{s.did, Nothing} {
			results, err := w.Pass(t.Context(), true)
			if wrong := s.is(w, id); err != nil || wrong != "" {
				t.Errorf("%s: %s, %v", name, wrong, err)
			}
			did := Nothing
			for _, r := range results {
				did = r.Did
				if r.Err != nil || r.Record.ID != id {
					t.Errorf("%s: %s, %v", name, r.Record, r.Err)
				}
			}
			if did != want {
				t.Errorf("%s: did %q, want %q", name, did, want)
			}
		}
	}
}

// What has lost its pod is started without a full comparison, too.
func TestPassOfWhatIsNew(t *testing.T) {
	w := newWorld(t)
	id := w.provision("alice")
	w.deletePod(id)
	results, err := w.Pass(t.Context(), false)
	if r := w.record(id); err != nil || len(results) != 1 || results[0].Did != Start || len(w.pods()) != 1 ||
		r.Desired != v1.DesiredRunning || r.Actual != v1.ActualRunning {
		t.Errorf("%+v, %s, %v", results, r, err)
	}
}

// Whatever a pass cannot read or write, it says so, or does all the same what it has to do;
// and the next pass does the rest. Nothing else goes wrong for it.
func TestPassWithoutOneRequest(t *testing.T) {
	for name, s := range scenarios() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for n, more := 0, true; more; n++ {
				w, refused := newWorld(t), "nothing"
				id := w.provision("alice")
				s.made(w, id)
				more = false
				w.requests.Set(http.StatusInternalServerError, func(i int, request string) bool {
					if i != n {
						return false
					}
					more, refused = true, fmt.Sprintf("%s, request %d", request, n)
					return request != "delete leases" // a lock that is not released is waited for
				})
				said := w.said(w.Pass(t.Context(), true))
				w.requests.Set(0, nil)
				if wrong := s.is(w, id); wrong != "" && len(said) == 0 {
					t.Errorf("without %s, %s, and it says nothing", refused, wrong)
				}
				for _, line := range said {
					if !strings.Contains(line, kubetest.Refusal) {
						t.Errorf("without %s: %s", refused, line)
					}
				}
				if _, err := w.Pass(t.Context(), true); err != nil {
					t.Errorf("after %s: %v", refused, err)
				}
				if wrong := s.is(w, id); wrong != "" {
					t.Errorf("after %s, the next pass leaves that %s", refused, wrong)
				}
			}
		})
	}
}

// A pass that cannot read what is recorded, or what is left of a workspace, changes nothing.
func TestPassThatCannotRead(t *testing.T) {
	for request, made := range map[string]func(w *world, id string){
		"list configmaps": func(w *world, id string) { w.want(id, v1.DesiredStopped) },
		"list secrets": func(w *world, id string) {
			w.deletePod(id)
			w.want(id, v1.DesiredTerminated)
		},
	} {
		w := newWorld(t)
		id := w.provision("alice")
		made(w, id)
		recorded, pods := w.record(id), w.pods()
		w.requests.Set(http.StatusServiceUnavailable, func(_ int, asked string) bool { return asked == request })
		results, err := w.Pass(t.Context(), false)
		w.requests.Set(0, nil)
		if err == nil || len(results) > 0 {
			t.Errorf("without %s: %v, %v", request, results, err)
		}
		if r := w.record(id); r.String() != recorded.String() || !slices.Equal(w.pods(), pods) {
			t.Errorf("without %s: %s, and its pods are %q", request, r, w.pods())
		}
	}
}

// said is what went wrong in a pass, as it says itself.
func (w *world) said(results []Result, err error) (all []string) {
	if err != nil {
		all = append(all, err.Error())
	}
	for _, r := range results {
		if r.Err != nil {
			all = append(all, r.Err.Error())
		}
	}
	for line := range strings.Lines(w.lines.String()) {
		if !strings.Contains(line, "level=INFO") {
			all = append(all, line)
		}
	}
	return all
}

// What others change during an exchange is read again, and left to the next one.
func TestExchangeMisses(t *testing.T) {
	w := newWorld(t)
	id := w.provision("alice")
	k := knows(w.answered(id, v1.DesiredRunning), true)
	k.see([]v1.Workspace{seen(id, v1.StageFailed)}) // which is to be recorded
	w.answered(id, v1.DesiredStopped)
	todo, complete, err := w.exchange(t.Context(), k, false)
	if r, _ := k.of("team." + id); complete || err != nil || r.Desired != v1.DesiredStopped {
		t.Errorf("%t, %v, and %s is known", complete, err, r)
	}
	expect(t, "to be done", todo, "team."+id)
	if w.record(id).Actual != v1.ActualRunning {
		t.Errorf("it has written %s", w.record(id))
	}
	w.answered(id, v1.DesiredRestart)
	w.requests.Set(http.StatusInternalServerError, func(_ int,
		request string,
	) bool {
		return request == "get configmaps"
	})
	if _, _, err := w.exchange(t.Context(), k, false); err == nil {
		t.Error("what has changed cannot be read, and that is no error")
	}
	w.requests.Set(0, nil)
	if _, complete, err = w.exchange(t.Context(), k, false); complete || err != nil {
		t.Errorf("it is not read again: %t, %v", complete, err)
	}
	todo, complete, err = w.exchange(t.Context(), k, false)
	if !complete || err != nil || w.record(id).Actual != v1.ActualFailed {
		t.Errorf("then %q, %t, %v, and it is %s", todo, complete, err, w.record(id))
	}
}

// A limit that is reached is told once, with what it makes of the workspace.
func TestLimitReached(t *testing.T) {
	w := newWorld(t)
	id := w.provision("alice")
	w.Limits = func(lifecycle.Record) lifecycle.Limits {
		return lifecycle.Limits{Active: time.Hour, Stopped: 3 * time.Hour}
	}
	w.change(id, func(r lifecycle.Record) (lifecycle.Record, error) {
		r.DesiredAt = time.Now().Add(-2 * time.Hour).UTC()
		return r, nil
	})
	for range 2 {
		if _, err := w.Pass(t.Context(), false); err != nil || len(w.pods()) > 0 {
			t.Errorf("%q are left, %v", w.pods(), err)
		}
	}
	if got := w.lines.String(); strings.Count(got, "a limit is reached") != 1 ||
		!strings.Contains(got, "workspace=team."+id+" limit=maxActiveHours desired=Stopped") {
		t.Errorf("it says %s", got)
	}
}

// A workspace of which nothing is left is an error, which is recorded, and the others do not
// wait for it. It is tried once.
func TestPassWithALostWorkspace(t *testing.T) {
	w := newWorld(t)
	id := w.provision("alice")
	w.want(id, v1.DesiredStopped)
	w.want("bob-1234567", v1.DesiredStopped)
	results, err := w.Pass(t.Context(), false)
	if err != nil || len(results) != 2 || results[0].Did != Stop || results[0].Err != nil {
		t.Fatalf("%v, %v", results, err)
	}
	if lost := results[1]; lost.Did != Lost || lost.Err == nil || lost.Record.Actual != v1.ActualError ||
		!strings.HasPrefix(lost.Record.Cause, "nothing of it is left") {
		t.Errorf("%+v", lost)
	}
	if n := strings.Count(w.lines.String(), "action=lost"); n != 1 {
		t.Errorf("it was tried %d times", n)
	}
}

// A record that cannot be read is told and left alone, and so is what it is about.
func TestPassWithADamagedRecord(t *testing.T) {
	w := newWorld(t)
	id := w.provision("alice")
	w.want(id, v1.DesiredStopped)
	at := w.server.Names("configmaps")[slices.IndexFunc(w.server.Names("configmaps"),
		func(at string) bool { return strings.Contains(at, "berth-state-") })]
	record := w.server.Get(at)
	record.Object["data"] = map[string]any{"record": "{"}
	w.server.Put(at, record)
	results, err := w.Pass(t.Context(), true)
	if err != nil || len(results) > 0 || len(w.pods()) != 1 {
		t.Errorf("%v, %v, and the pods are %q", results, err, w.pods())
	}
	if got := w.lines.String(); !strings.Contains(got, `level=ERROR msg="a record is left alone"`) {
		t.Errorf("it says %s", got)
	}
}
