package controller

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/kubetest"
	"github.com/berthdev/berth/internal/lifecycle"
	"github.com/berthdev/berth/internal/lock"
	"github.com/berthdev/berth/internal/reconcile"
)

// knows is what is known of a workspace: its record, and that it runs or that it has no pods
// and something of it is left.
func knows(r lifecycle.Record, runs bool) *known {
	k := newKnown()
	r.Namespace = "team"
	k.replaceRecords([]lifecycle.Record{r})
	if runs {
		w := seen(r.ID, v1.StageRunning)
		k.seeAll([]v1.Workspace{w})
	} else {
		k.setRemains(r.Key(), true)
	}
	return k
}

// answered records the desired state of a workspace, and that somebody has to bring it about.
func (w *world) answered(id string, desired v1.DesiredState) lifecycle.Record {
	w.t.Helper()
	w.change(id, func(r lifecycle.Record) (lifecycle.Record, error) {
		r.Namespace = "team"
		r, err := r.Set(desired, time.Now().UTC())
		r.Answered = r.Changed
		return r, err
	})
	return w.record(id)
}

// How the work on one workspace ends: what was done, with which error, whether that is told,
// and what is reported of it then.
func TestHowWorkEnds(t *testing.T) {
	stopped := func(w *world, id string) *known { return knows(w.answered(id, v1.DesiredStopped), true) }
	for name, test := range map[string]struct {
		made   func(w *world, id string) *known
		refuse string // a request, or nothing
		code   int
		did    Action
		fails  string // with this
		told   bool
		report string // of what was noted; empty if nothing was
	}{
		"it is done": {made: stopped, did: Stop, told: true, report: "Running"}, // as was seen last
		"somebody else has done it": {made: func(w *world, id string) *known {
			w.deletePod(id)
			return stopped(w, id)
		}},
		"nothing is to be done": {made: func(w *world,
			id string,
		) *known {
			return knows(w.answered(id, v1.DesiredRunning), true)
		}},
		"it is not recorded": {made: func(*world, string) *known { return newKnown() }},
		"it is to be answered first": {made: func(w *world, id string) *known {
			w.want(id, v1.DesiredStopped)
			return knows(w.record(id), true)
		}},
		"something else is wanted now": {made: func(w *world, id string) *known {
			k := stopped(w, id)
			w.answered(id, v1.DesiredTerminated)
			return k
		}},
		"somebody else works on it": {made: func(w *world, id string) *known {
			w.lock(id)
			return stopped(w, id)
		}, fails: "is working on workspace"},
		"the API server is away": {
			made: stopped, refuse: "list pods", code: http.StatusServiceUnavailable,
			fails: "unable to handle",
		},
		"the API server goes away": {
			made: stopped, refuse: "delete pods", code: http.StatusInternalServerError,
			fails: kubetest.Refusal,
		},
		"it may not be done": {
			made: stopped, refuse: "delete pods", code: http.StatusForbidden, did: Stop,
			fails: kubetest.Refusal, told: true, report: "Error",
		},
		"it is gone, and was to stop": {
			made: func(w *world, _ string) *known { return stopped(w, "bob-1234567") },
			did:  Stop, told: true, report: "Running",
		},
		"it is gone, and was to be gone": {made: func(w *world,
			_ string,
		) *known {
			return knows(w.answered("bob-1234567", v1.DesiredTerminated), true)
		}, did: Delete, told: true, report: "Running"},
		"it is gone, and was to start": {made: func(w *world,
			_ string,
		) *known {
			return knows(w.answered("bob-1234567", v1.DesiredRunning), false)
		}, did: Start, fails: "nothing of it is left", told: true, report: "Error"},
		"nothing is left of it": {made: func(w *world, id string) *known {
			k := knows(w.answered(id, v1.DesiredRunning), false)
			k.setRemains("team."+id, false)
			return k
		}, did: Lost, fails: "nothing of it is left", told: true, report: "Error"},
		"what is recorded is no name": {made: func(*world, string) *known {
			return knows(recordOf("No_Name", v1.DesiredStopped, v1.ActualRunning), true)
		}, did: Stop, fails: "invalid canonical ID", told: true, report: "Error"},
		"somebody has started it already": {made: func(w *world,
			id string,
		) *known {
			return knows(w.answered(id, v1.DesiredRunning), false)
		}, report: "Stopped"},
	} {
		w := newWorld(t)
		id := w.provision("alice")
		k := test.made(w, id)
		var key string
		for key = range k.records {
		}
		var told []string
		w.Done = func(did Action, _ time.Duration, err error) { told = append(told, fmt.Sprintf("%s: %v", did, err)) }
		w.requests.Set(test.code, func(_ int, request string) bool { return request == test.refuse })
		did, err := w.one(t.Context(), k, key)
		if did != test.did || (err != nil) != (test.fails != "") || err != nil &&
			!strings.Contains(err.Error(), test.fails) {
			t.Errorf("%s: did %q, %v; want %q", name, did, err, test.did)
		}
		if test.told != (len(told) == 1) || test.told && told[0] != fmt.Sprintf("%s: %v", did, err) ||
			test.told != strings.Contains(w.lines.String(), "msg=audit") {
			t.Errorf("%s: it tells %q, and %s", name, told, w.lines)
		}
		want := []string{key + " " + test.report}
		if test.report == "" {
			want = nil
		}
		k.exchanged(nil)
		expect(t, name, k.reports(false), want...)
	}
}

// What a command does between the look at a workspace and the lock is not done again, nor told as
// what the loop has done.
func TestDoneMeanwhile(t *testing.T) {
	stops := func(pod *kubetest.Object) { pod.SetDeletionTimestamp(&metav1.Time{Time: time.Now()}) }
	for desired, meanwhile := range map[v1.DesiredState]func(pod *kubetest.Object){
		v1.DesiredRunning: func(*kubetest.Object) {}, v1.DesiredStopped: stops, v1.DesiredRestart: stops,
	} {
		w := newWorld(t)
		id := w.provision("alice")
		at := "/api/v1/namespaces/team/pods/" + id
		pod := w.server.Get(at).DeepCopy()
		if desired == v1.DesiredRunning {
			w.deletePod(id)
		}
		k := knows(w.answered(id, desired), desired != v1.DesiredRunning)
		w.requests.Set(http.StatusOK, func(_ int, request string) bool {
			if request == "post selfsubjectrulesreviews" {
				meanwhile(pod)
				w.server.Put(at, pod)
			}
			return false
		})
		did, err := w.one(t.Context(), k, "team."+id)
		if did != Nothing || err != nil || strings.Contains(w.lines.String(), "msg=audit") {
			t.Errorf("%s: did %q, %v, and says %s", desired, did, err, w.lines)
		}
	}
}

// What the author of a record may not do is refused without the lock, which commands that may
// would meet.
func TestRefusedWithoutLock(t *testing.T) {
	w := newWorld(t)
	w.Guarded = func(context.Context) error { return nil }
	id := w.provision("alice")
	w.answered(id, v1.DesiredTerminated)
	at := "/api/v1/namespaces/team/configmaps/" + lifecycle.NamePrefix + id
	document := w.server.Get(at).DeepCopy()
	document.SetAnnotations(map[string]string{lifecycle.AnnotationVouched: string(lifecycle.RightStop)})
	w.server.Put(at, document)
	r := w.record(id)
	var asked []string
	w.requests.Set(http.StatusOK, func(_ int, request string) bool {
		asked = append(asked, request)
		return false
	})
	did, err := w.one(t.Context(), knows(r, true), r.Key())
	if did != Delete || err == nil || !strings.Contains(err.Error(), "may only stop") ||
		slices.Contains(asked, "post leases") {
		t.Errorf("did %q, %v, with %q", did, err, asked)
	}
}

// Nobody waits for what comes of a start: that no node has room for it is seen.
func TestStartIsNotWaitedFor(t *testing.T) {
	w := newWorld(t)
	id := w.provision("alice")
	w.deletePod(id)
	w.server.Full = true
	k := knows(w.answered(id, v1.DesiredRunning), false)
	ctx, end := context.WithTimeout(t.Context(), time.Minute)
	defer end()
	if did, err := w.one(ctx, k, "team."+id); did != Start || err != nil || len(w.pods()) != 1 {
		t.Errorf("did %q, %v, and the pods are %q", did, err, w.pods())
	}
}

// What counts for the pause before the next replacement of a pod is that it was replaced: what
// was refused, or left to somebody else, was not.
func TestOnlyReplacementsCount(t *testing.T) {
	w := newWorld(t)
	id := w.provision("alice")
	w.endPod(id, corev1.PodFailed, "Evicted")
	r := w.answered(id, v1.DesiredRunning)
	k := knows(r, true)
	over := seen(id, v1.StageFailed)
	over.Ended = true
	k.seeAll([]v1.Workspace{over})
	counted := func(when string, want int) {
		t.Helper()
		if did, err := w.one(t.Context(), k, r.Key()); k.replaced[r.Key()].times != want {
			t.Errorf("%s: %q, %v, and %d replacements count", when, did, err, k.replaced[r.Key()].times)
		}
	}
	for _, code := range []int{http.StatusForbidden, http.StatusServiceUnavailable} {
		w.requests.Set(code, func(_ int, request string) bool {
			return request == "delete pods" ||
				request == "post pods"
		})
		counted("refused", 0)
	}
	w.requests.Set(0, func(int, string) bool { return false })
	counted("done", 1)
}

// lock lets somebody elsewhere work on a workspace.
func (w *world) lock(id string) {
	w.t.Helper()
	somebody := lock.Locker{
		Leases: w.Provisioner.Client.CoordinationV1().Leases("team"), Namespace: "team", Purpose: "provision",
		Now:  time.Now,
		Self: lock.Holder{User: "somebody", Host: "elsewhere", PID: 1, Started: "1", Nonce: "1"},
	}
	if held, _, err := somebody.Try(w.t.Context(), id, nil); held == nil || err != nil {
		w.t.Fatal(held, err)
	}
}

// A workspace that somebody works on is left to them for a while; any other error is the
// loop's, which waits longer each time.
func TestWorkAgain(t *testing.T) {
	w := newWorld(t)
	id := w.provision("alice")
	k := knows(w.answered(id, v1.DesiredStopped), true)
	w.requests.Set(http.StatusForbidden, func(_ int, request string) bool { return request == "delete pods" })
	if err := w.work(t.Context(), k, "team."+id); err == nil || !strings.Contains(err.Error(), kubetest.Refusal) {
		t.Errorf("refused: %v", err)
	}
	w.lock(id)
	if err := w.work(t.Context(), k, "team."+id); err == nil || err.Error() != reconcile.Again(3*time.Second).Error() {
		t.Errorf("locked: %v", err)
	}
	if err := w.work(t.Context(), k, "team.nobody"); err != nil {
		t.Errorf("nothing to do: %v", err)
	}
}

// Work that is interrupted is no failure, and work that takes too long is one.
func TestWorkThatIsCutOff(t *testing.T) {
	for name, test := range map[string]struct {
		cause error
		did   Action
	}{"interrupted": {context.Canceled, Nothing}, "it took too long": {context.DeadlineExceeded, Stop}} {
		w := newWorld(t)
		id := w.provision("alice")
		k := knows(w.answered(id, v1.DesiredStopped), true)
		ctx, end := context.WithCancelCause(t.Context())
		w.requests.Set(http.StatusForbidden,
			func(_ int, request string) bool { // in case that the answer is faster than the end
				if request == "delete pods" {
					end(test.cause)
				}
				return request == "delete pods"
			})
		did, err := w.one(ctx, k, "team."+id)
		if did != test.did || err == nil || (test.did == Nothing) != (len(k.reports(false)) == 0) {
			t.Errorf("%s: did %q, %v, and reports %q", name, did, err, k.reports(false))
		}
	}
}

// Where the work on a workspace panics, that is what is recorded of it.
func TestRunPanics(t *testing.T) {
	w := newWorld(t)
	w.Partial, w.Full = 10*time.Millisecond, time.Hour
	w.Done = func(Action, time.Duration, error) { panic("a defect") }
	w.want("alice-1234567", v1.DesiredRunning)
	w.running()
	w.until("it is recorded", func() bool { return strings.Contains(w.record("alice-1234567").Cause, "a defect") })
}
