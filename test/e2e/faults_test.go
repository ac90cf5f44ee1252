//go:build e2e

package e2e

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/berthdev/berth/api/v1"
)

// meddler does something to a request before, or instead of, passing it on.
type meddler func(out http.ResponseWriter, r *http.Request, next http.Handler)

// A provisioning that is followed through a bad network ends as it does through
// a good one, and no stage is reported after a later one.
func TestFollowingThroughFaults(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name string
		meddler
	}{
		{"watches that are closed all the time", cutWatches(300 * time.Millisecond)},
		{"watches that break off in the middle of a line", breakWatches(3)},
		{"410 instead of a watch", goneAtOnce()},
		{"410 within a watch", goneInside()},
		{"a watch of pods that says nothing", stallFirst("pods")},
		{"an API server that has too much to do", tooBusy(6)},
	} {
		t.Run(test.name, func(t *testing.T) {
			w := newWorld(t)
			run := w.launch(w.through([]string{"provision", "alice~busy", "-o", "jsonl"}, test.meddler))
			r := run.wait()
			r.mustBe(w, 0)
			w.neverBackwards(r.stdout)
			w.must(0, "exec", "alice~busy", "--", "true")
		})
	}
}

// An outage of the API server is reported, and so is its end.
func TestFollowingThroughAnOutage(t *testing.T) {
	w := newWorld(t)
	var server outage
	run := w.launch(w.through([]string{"provision", "alice~gated", "-o", "jsonl"}, server.meddle))
	run.waitForLine(`"stage":"Starting"`)
	server.begin()
	run.waitForLine("connection lost, retrying")
	server.end()
	run.waitForLine("connection restored")
	w.open("alice~gated")
	r := run.wait()
	r.mustBe(w, 0)
	w.neverBackwards(r.stdout)
}

// The deletion of a pod during an outage of the watches is noticed as soon as they
// are back.
func TestPodDeletedDuringAnOutage(t *testing.T) {
	w := newWorld(t)
	var server outage
	run := w.launch(w.through([]string{"provision", "alice~huge"}, server.meddle))
	run.waitFor("stage Scheduling")
	server.begin()
	run.waitFor("connection lost")
	if err := w.CoreV1().Pods(w.namespace).
		Delete(t.Context(), w.idOf("alice~huge"), *metav1.NewDeleteOptions(0)); err != nil {
		t.Fatal(err)
	}
	server.end()
	r := run.wait()
	r.mustBe(w, 3)
	w.contains(r.stderr, "deleted")
}

// neverBackwards fails the test if a stage is reported after a later one.
func (w *world) neverBackwards(lines string) {
	w.Helper()
	order := []v1.Stage{
		v1.StageUnknown, v1.StageScheduling, v1.StagePulling, v1.StageInitializing, v1.StageStarting,
		v1.StageRunning,
	}
	farthest := 0
	for line := range strings.Lines(lines) {
		var e v1.Event
		if strings.Contains(line, `"kind":"Workspace"`) {
			continue // the result
		}
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			w.Fatalf("%v: %s", err, line)
		}
		if e.Stage == nil {
			continue
		}
		now := slices.Index(order, e.Stage.Stage)
		if now < farthest {
			w.Errorf("%s is reported after %s", e.Stage.Stage, order[farthest])
		}
		farthest = max(farthest, now)
	}
	if order[farthest] != v1.StageRunning {
		w.Errorf("the last stage reported is %s", order[farthest])
	}
}

func isWatch(r *http.Request) bool { return r.URL.Query().Get("watch") == "true" }

func resourceOf(r *http.Request) string {
	parts := strings.Split(r.URL.Path, "/")
	return parts[len(parts)-1]
}

// cutWatches closes every watch in good order after a while.
func cutWatches(after time.Duration) meddler {
	return func(out http.ResponseWriter, r *http.Request, next http.Handler) {
		if isWatch(r) {
			ctx, cancel := context.WithTimeout(r.Context(), after)
			defer cancel()
			r = r.WithContext(ctx)
		}
		next.ServeHTTP(out, r)
	}
}

// breakWatches breaks off the first n watches of each resource after some bytes.
func breakWatches(n int) meddler {
	first := counted(n)
	return func(out http.ResponseWriter, r *http.Request, next http.Handler) {
		if isWatch(r) && first(resourceOf(r)) {
			out = &breaking{ResponseWriter: out, left: 700}
		}
		next.ServeHTTP(out, r)
	}
}

// breaking lets some bytes through and then breaks the connection.
type breaking struct {
	http.ResponseWriter
	left int
}

// Write breaks off in the middle of what it is given.
func (b *breaking) Write(p []byte) (int, error) {
	if len(p) < b.left {
		b.left -= len(p)
		return b.ResponseWriter.Write(p)
	}
	_, _ = b.ResponseWriter.Write(p[:b.left])
	b.Flush()
	panic(http.ErrAbortHandler)
}

// Flush passes on what is written.
func (b *breaking) Flush() {
	if f, ok := b.ResponseWriter.(http.Flusher); ok {
		f.Flush()
	}
}

const goneStatus = `{"kind":"Status","apiVersion":"v1","status":"Failure","message":"too old resource ` +
	`version","reason":"Expired","code":410}`

// goneAtOnce refuses the first two watches of each resource as too old.
func goneAtOnce() meddler {
	first := counted(2)
	return func(out http.ResponseWriter, r *http.Request, next http.Handler) {
		if isWatch(r) && first(resourceOf(r)) {
			out.Header().Set("Content-Type", "application/json")
			out.WriteHeader(http.StatusGone)
			_, _ = io.WriteString(out, goneStatus)
			return
		}
		next.ServeHTTP(out, r)
	}
}

// goneInside opens the first two watches of each resource and then says that
// they are too old.
func goneInside() meddler {
	first := counted(2)
	return func(out http.ResponseWriter, r *http.Request, next http.Handler) {
		if isWatch(r) && first(resourceOf(r)) {
			out.Header().Set("Content-Type", "application/json")
			_, _ = io.WriteString(out, `{"type":"ERROR","object":`+goneStatus+"}\n")
			return
		}
		next.ServeHTTP(out, r)
	}
}

// stallFirst lets the first watch of a resource say nothing until berth has had
// enough of it.
func stallFirst(what string) meddler {
	first := counted(1)
	return func(out http.ResponseWriter, r *http.Request, next http.Handler) {
		if isWatch(r) && resourceOf(r) == what && first(what) {
			out.Header().Set("Content-Type", "application/json")
			out.WriteHeader(http.StatusOK)
			if f, ok := out.(http.Flusher); ok {
				f.Flush()
			}
			<-r.Context().Done()
			return
		}
		next.ServeHTTP(out, r)
	}
}

// outage is an API server that goes away and comes back: what is open breaks, and
// everything is refused. A refusal is what client-go does not hide: after a
// connection that breaks it tries again by itself, up to ten times.
type outage struct {
	mu   sync.Mutex
	away bool
	open map[*http.Request]context.CancelFunc
}

func (o *outage) begin() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.away = true
	for _, broken := range o.open {
		broken()
	}
}

func (o *outage) end() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.away = false
}

// enter notes a request; not ok if it is to be refused.
func (o *outage) enter(r *http.Request) (ctx context.Context, leave func(), ok bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.away {
		return nil, nil, false
	}
	ctx, cancel := context.WithCancel(r.Context())
	if o.open == nil {
		o.open = map[*http.Request]context.CancelFunc{}
	}
	o.open[r] = cancel
	return ctx, func() {
		o.mu.Lock()
		defer o.mu.Unlock()
		delete(o.open, r)
		cancel()
	}, true
}

func (o *outage) meddle(out http.ResponseWriter, r *http.Request, next http.Handler) {
	ctx, leave, ok := o.enter(r)
	if !ok {
		http.Error(out, "server is down", http.StatusServiceUnavailable)
		return
	}
	defer leave()
	next.ServeHTTP(out, r.WithContext(ctx))
	if ctx.Err() != nil {
		panic(http.ErrAbortHandler)
	}
}

// tooBusy answers the first n requests of each kind that only read with 429.
func tooBusy(n int) meddler {
	first := counted(n)
	return func(out http.ResponseWriter, r *http.Request, next http.Handler) {
		if r.Method == http.MethodGet && first(resourceOf(r)) {
			out.Header().Set("Retry-After", "0")
			out.WriteHeader(http.StatusTooManyRequests)
			return
		}
		next.ServeHTTP(out, r)
	}
}

// counted is true n times for each name.
func counted(n int) func(name string) bool {
	var mu sync.Mutex
	seen := map[string]int{}
	return func(name string) bool {
		mu.Lock()
		defer mu.Unlock()
		seen[name]++
		return seen[name] <= n
	}
}
