//go:build e2e

package e2e

import (
	"math/rand/v2"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/berthdev/berth/internal/kube"
	"github.com/berthdev/berth/internal/lock"
)

// pause is a pair of runs on one workspace.
type pause struct{ kind, a, b string }

// pauses are the pairs of runs of which the first is suspended.
func pauses() (all []pause) {
	for _, kind := range []string{"injected", "standalone"} {
		for _, a := range []string{"provision", "delete"} {
			for _, b := range []string{"provision", "delete"} {
				all = append(all, pause{kind, a, b})
			}
		}
	}
	return all
}

// A process that is stopped (SIGSTOP) at any of its requests for longer than its lock
// lasts, while another one works, continues (SIGCONT) and leaves the workspace whole or
// not there at all; unless it ends well it says CONFLICT. `make chaos` tries 64 of
// injection and 32 of the others.
func TestChaosSuspended(t *testing.T) {
	t.Parallel()
	seeds := dice(t)
	for _, s := range pauses() {
		times := rounds(1, 8)
		if s.kind == "injected" {
			times = rounds(1, 16)
		}
		random := rand.New(rand.NewPCG(seeds.Uint64(), seeds.Uint64()))
		t.Run(s.kind+" "+s.a+" and "+s.b, func(t *testing.T) {
			t.Parallel()
			requests := countOf(t, s.victim())
			for range times {
				m := moment{request: 1 + random.IntN(requests), done: random.IntN(2) == 1}
				t.Run(m.String(), func(t *testing.T) { s.try(newWorld(t), m) })
			}
		})
	}
}

// victim is the first run, for the count of its requests.
func (s pause) victim() victim {
	return victim{s.kind + " " + s.a, func(w *world) ([]string, func()) {
		user, _ := s.prepare(w)
		return []string{s.a, user}, func() {}
	}, 1}
}

// prepare makes what there is when the first run begins.
func (s pause) prepare(w *world) (user string, web *target) {
	w.Helper()
	user = "alice~data"
	if s.kind == "injected" {
		web = w.workload("deployment", 1, nil)
		user = web.user("data")
	}
	if s.a == "delete" {
		w.must(0, "provision", user)
	}
	return user, web
}

// try suspends the first run at a moment.
func (s pause) try(w *world, m moment) {
	w.Helper()
	user, web := s.prepare(w)
	before := ""
	if web != nil && s.a == "provision" {
		before = web.template()
	}
	first, resume := w.suspendedAt([]string{s.a, user, "--timeout", "3m"}, m)
	if first == nil {
		w.Logf("it had ended before %s", m)
		return
	}
	time.Sleep(2 * lock.Duration) // by the wall clock, as the other process sees it
	second := []string{"delete", user, "--ignore-not-found", "--timeout", "3m"}
	if s.b == "provision" {
		second = []string{"provision", user, "--if-not-exists", "--timeout", "3m"}
	}
	works := w.berth(second...)
	refused := s.refusesNew(works)
	if !refused {
		works.mustBe(w, 0)
	}
	resume()
	r := first.wait()
	if !s.mayEnd(r.status) {
		w.Errorf("the first run ends with %d, want 0 or CONFLICT:\n%s", r.status, r.stderr)
	}
	if refused && r.status != 0 {
		w.must(0, "delete", user) // as the refusal says
	}
	s.whole(w, user, web)
	if !refused && r.status != 0 && (w.berth("status", user).status == 0) != (s.b == "provision") {
		w.Errorf("what the second run has done is undone:\n%s", r.stderr)
	}
	w.must(0, "delete", user, "--ignore-not-found", "--timeout", "3m")
	if before != "" {
		web.clean(before)
	}
	w.nothingIsLeft()
}

// refusesNew is true for a provisioning that is refused because a deletion has begun: what is
// to be deleted becomes nothing else, and is gone before it is made again.
func (s pause) refusesNew(r result) bool {
	return s.a == "delete" && s.b == "provision" && r.status == 6 && strings.Contains(r.stderr, "is being deleted")
}

// mayEnd says whether the first run may end with a status.
func (s pause) mayEnd(status int) bool {
	switch status {
	case 0, 6:
		return true
	case 8: // it was suspended while it asked who the user is, which has a time of its own
		return true
	case 3: // it followed a pod that was deleted
		return s.kind == "standalone" && s.a == "provision" && s.b == "delete"
	case 7: // it had not looked yet
		return s.a == "delete" && s.b == "delete"
	}
	return false
}

// whole fails the test if only a part of the workspace is there. A lock is none: one
// that was being released when the run was suspended is swept by the next deletion.
func (s pause) whole(w *world, user string, web *target) {
	w.Helper()
	leftovers := func() []string {
		return slices.DeleteFunc(w.leftovers(), func(name string) bool { return strings.HasPrefix(name, "lease/") })
	}
	left := leftovers()
	if web != nil {
		injected := web.get().GetAnnotations()[kube.AnnotationInjection] != ""
		if injected {
			w.must(0, "exec", user, "--", "true")
		}
		made := func(name string) bool {
			return strings.HasPrefix(name, "configmap/") || strings.HasPrefix(name, "persistentvolumeclaim/")
		}
		if injected && !slices.ContainsFunc(left, made) {
			w.Errorf("injected, and there are %v", left)
		}
		if !injected { // Kubernetes takes a moment to remove a claim that was in use
			w.eventually("nothing is left of what is not injected",
				func() bool { return !slices.ContainsFunc(leftovers(), made) })
		}
		return
	}
	if w.berth("status", user).status == 0 {
		w.must(0, "exec", user, "--", "true")
		return
	}
	w.eventually("nothing is left of what does not exist", func() bool { return len(leftovers()) == 0 })
}

// suspendedAt runs the command and stops it, until it is resumed; nil if it ended
// before.
func (w *world) suspendedAt(args []string, m moment) (run *process, resume func()) {
	w.Helper()
	var n atomic.Int64
	hit, goesOn := make(chan struct{}), make(chan struct{})
	started := make(chan *os.Process, 1)
	run = w.launch(w.through(args, func(out http.ResponseWriter, r *http.Request, next http.Handler) {
		if n.Add(1) != int64(m.request) {
			next.ServeHTTP(out, r)
			return
		}
		if m.done && !isWatch(r) { // a watch has no end
			next.ServeHTTP(out, r)
		}
		_ = (<-started).Signal(syscall.SIGSTOP)
		close(hit)
		<-goesOn
		if !m.done || isWatch(r) {
			next.ServeHTTP(out, r)
		}
	}))
	started <- run.cmd.Process
	suspended := run.cmd.Process // run is nil for one that has ended
	resume = sync.OnceFunc(func() {
		close(goesOn)
		_ = suspended.Signal(syscall.SIGCONT)
	})
	w.Cleanup(resume) // a proxy with an open request does not close
	select {
	case <-hit:
		return run, resume
	case err := <-run.ended:
		run.ended <- err
		return nil, nil
	}
}
