//go:build e2e

package e2e

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"sync/atomic"
	"testing"
	"time"

	v1 "github.com/berthdev/berth/api/v1"
)

// moment is when berth is killed: around which of its requests, and on which
// side of the API server's work.
type moment struct {
	request int
	// done is true if the API server has done its work and only the answer is
	// missing.
	done bool
}

func (m moment) String() string {
	if m.done {
		return fmt.Sprintf("after request %d was done", m.request)
	}
	return fmt.Sprintf("before request %d arrived", m.request)
}

// victim is a command that is killed.
type victim struct {
	name string
	// prepare makes what exists before, and returns the command's arguments and how
	// to clean up afterwards: nothing of berth's may be left then.
	prepare func(w *world) (args []string, again func())
	// step is how many requests are between two kills, unless all are wanted.
	step int
}

// victims are the commands that write.
func victims(blueprint string) []victim {
	user := "alice~" + blueprint
	return []victim{
		{"provision", func(w *world) ([]string, func()) {
			return []string{"provision", user}, func() {
				w.must(0, "provision", user, "--if-not-exists")
				w.onlyOneRelease(w.idOf(user))
				w.must(0, "exec", user, "--", "true")
				w.must(0, "delete", user)
			}
		}, 1},
		{"delete", func(w *world) ([]string, func()) {
			w.must(0, "provision", user)
			return []string{"delete", user}, func() { w.must(0, "delete", user, "--ignore-not-found") }
		}, 1},
		{"inject", func(w *world) ([]string, func()) {
			web := w.workload("deployment", 1, nil)
			before, user := web.template(), web.user(blueprint)
			return []string{"provision", user}, func() {
				w.must(0, "provision", user, "--if-not-exists")
				w.must(0, "exec", user, "--", "true")
				w.must(0, "delete", user)
				web.clean(before)
			}
		}, 1},
		{"stop", func(w *world) ([]string, func()) {
			w.must(0, "provision", user)
			return []string{"stop", user}, func() {
				w.must(0, "stop", user)
				w.must(0, "start", user)
				w.must(0, "exec", user, "--", "true")
				w.must(0, "delete", user)
			}
		}, 4},
		{"start", func(w *world) ([]string, func()) {
			w.must(0, "provision", user)
			w.must(0, "stop", user)
			return []string{"start", user}, func() {
				w.must(0, "start", user)
				w.onlyOneRelease(w.idOf(user))
				w.must(0, "exec", user, "--", "true")
				w.must(0, "delete", user)
			}
		}, 4},
		{"restart", func(w *world) ([]string, func()) {
			w.must(0, "provision", user)
			return []string{"restart", user}, func() {
				w.must(0, "restart", user)
				w.onlyOneRelease(w.idOf(user))
				w.must(0, "exec", user, "--", "true")
				w.must(0, "stop", user)
				w.must(0, "delete", user)
			}
		}, 4},
		{"update", func(w *world) ([]string, func()) {
			w.must(0, "provision", user)
			return []string{"update", user, "--set", "env.UPDATED=yes"}, func() {
				w.must(0, "update", user, "--set", "env.UPDATED=yes")
				w.must(0, "exec", user, "--", "sh", "-c", "test $UPDATED = yes")
				w.must(0, "delete", user)
			}
		}, 3},
		{"update, then start", func(w *world) ([]string, func()) {
			w.must(0, "provision", user)
			return []string{"update", user, "--set", "env.UPDATED=yes"}, func() {
				w.must(0, "start", user)
				w.must(0, "exec", user, "--", "true")
				w.must(0, "delete", user)
			}
		}, 6},
		{"update in a workload", func(w *world) ([]string, func()) {
			web := w.workload("deployment", 1, nil)
			before, user := web.template(), web.user(blueprint)
			w.must(0, "provision", user)
			return []string{"update", user, "--set", "env.UPDATED=yes"}, func() {
				w.must(0, "update", user, "--set", "env.UPDATED=yes")
				w.must(0, "exec", user, "--", "sh", "-c", "test $UPDATED = yes")
				w.must(0, "delete", user)
				web.clean(before)
			}
		}, 6},
		{"restart in a workload", func(w *world) ([]string, func()) {
			web := w.workload("deployment", 1, nil)
			before, user := web.template(), web.user(blueprint)
			w.must(0, "provision", user)
			return []string{"restart", user}, func() {
				w.must(0, "start", user)
				w.must(0, "exec", user, "--", "true")
				w.must(0, "delete", user)
				web.clean(before)
			}
		}, 4},
		{"eject", func(w *world) ([]string, func()) {
			web := w.workload("deployment", 1, nil)
			before, user := web.template(), web.user(blueprint)
			w.must(0, "provision", user)
			return []string{"delete", user}, func() {
				w.must(0, "delete", user, "--ignore-not-found")
				web.clean(before)
			}
		}, 1},
	}
}

// After a SIGKILL at each of its API calls, the same command succeeds and leaves
// nothing behind. BERTH_TEST_TORTURE=full kills on both sides of every
// call, on the smallest chart and on one with everything (`make torture`).
func TestTorture(t *testing.T) {
	t.Parallel()
	blueprints, sides := []string{"plain"}, []bool{false}
	if tortured() {
		blueprints, sides = []string{"plain", "dev"}, []bool{false, true}
	}
	for _, blueprint := range blueprints {
		for _, v := range victims(blueprint) {
			t.Run(v.name+" "+blueprint, func(t *testing.T) {
				t.Parallel()
				requests := countOf(t, v)
				t.Logf("%s makes %d requests", v.name, requests)
				sample := newSample(t)
				for n := range requests {
					if !tortured() && (n%v.step != 0 || !sample.has()) {
						continue
					}
					for _, done := range sides {
						m := moment{request: n + 1, done: done}
						t.Run(m.String(), func(t *testing.T) { torture(newWorld(t), v, m) })
					}
				}
			})
		}
	}
}

// torture kills a command at a moment and then does the same again.
func torture(w *world, v victim, m moment) {
	w.Helper()
	args, again := v.prepare(w)
	if !w.killedAt(args, m) {
		w.Logf("it had ended before %s", m)
	}
	again()
	w.nothingIsLeft()
}

// countOf is how many requests an undisturbed command makes.
func countOf(t *testing.T, v victim) int {
	t.Helper()
	var n atomic.Int64
	t.Run("undisturbed", func(t *testing.T) {
		places.take(t)
		w := newWorldAlone(t)
		args, _ := v.prepare(w)
		w.finish(w.through(args, func(out http.ResponseWriter, r *http.Request, next http.Handler) {
			n.Add(1)
			next.ServeHTTP(out, r)
		})).mustBe(w, 0)
	})
	if n.Load() == 0 {
		t.Fatal("it made no requests")
	}
	return int(n.Load())
}

// killedAt runs the command and kills it; false if it ended before.
func (w *world) killedAt(args []string, m moment) bool {
	w.Helper()
	var n atomic.Int64
	process := make(chan *os.Process, 1)
	cmd := w.through(args, func(out http.ResponseWriter, r *http.Request, next http.Handler) {
		if n.Add(1) != int64(m.request) {
			next.ServeHTTP(out, r)
			return
		}
		if m.done {
			ctx, cancel := context.WithTimeout(r.Context(), time.Second) // a watch has no end
			defer cancel()
			next.ServeHTTP(&unheard{header: http.Header{}}, r.WithContext(ctx))
		}
		_ = (<-process).Kill()
		panic(http.ErrAbortHandler)
	})
	run := w.launch(cmd)
	process <- cmd.Process
	r := run.wait()
	if r.status != -1 && r.status != 0 {
		w.Fatalf("it was not killed but ended with %d:\n%s", r.status, r.stderr)
	}
	return r.status == -1
}

// through is the command with something between it and the API server.
func (w *world) through(args []string, m meddler) *exec.Cmd {
	w.Helper()
	cmd := w.command(args...)
	cmd.Env = append(cmd.Env, "KUBECONFIG="+w.between(m))
	return cmd
}

// unheard takes an answer that never gets to berth.
type unheard struct{ header http.Header }

// Header makes it an http.ResponseWriter.
func (u *unheard) Header() http.Header { return u.header }

// WriteHeader forgets the status.
func (u *unheard) WriteHeader(int) {}

// Write forgets what is written.
func (u *unheard) Write(p []byte) (int, error) { return len(p), nil }

// Many provisions of one user string at once: one release, one job that
// worked, and none hangs.
func TestManyAtOnce(t *testing.T) {
	w := newWorld(t)
	var runs []*process
	for range rounds(20, 30) {
		runs = append(runs, w.start("provision", "alice~plain", "-o", "json", "--if-not-exists"))
	}
	jobs := map[string]int{}
	for _, run := range runs {
		r := run.wait()
		r.mustBe(w, 0)
		jobs[decode[v1.Workspace](w, r).JobID]++
	}
	if len(jobs) != 1 {
		t.Errorf("several jobs have worked: %v", jobs)
	}
	w.onlyOneRelease(w.idOf("alice~plain"))
	if records := decode[v1.JobList](w, w.must(0, "jobs", "-o", "json")); len(records.Items) != 1 {
		t.Errorf("there are %d records of jobs", len(records.Items))
	}
}
