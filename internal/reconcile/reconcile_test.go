package reconcile

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// worked notes what was worked on.
type worked struct {
	mu   sync.Mutex
	keys []string
	at   []time.Duration
}

func (w *worked) add(key string, at time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.keys, w.at = append(w.keys, key), append(w.at, at)
}

// take gives the keys since the last time, in order.
func (w *worked) take() string {
	synctest.Wait()
	w.mu.Lock()
	defer w.mu.Unlock()
	keys := slices.Sorted(slices.Values(w.keys))
	w.keys, w.at = nil, nil
	return strings.Join(keys, " ")
}

// start runs a loop in the bubble; end stops it and waits. What is left running fails the test: the bubble has to be
// empty.
func start(t *testing.T, l *Loop[string]) (end func()) {
	t.Helper()
	if l.Log == nil {
		l.Log = slog.New(slog.DiscardHandler)
	}
	if l.Backoff == (Backoff{}) {
		l.Backoff = DefaultBackoff()
	}
	ctx, cancel := context.WithCancel(t.Context())
	ready, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		l.Run(ctx, func() { close(ready) })
	}()
	<-ready
	return func() {
		cancel()
		<-done
	}
}

func TestWhatIsWorkedOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		things, seen := &objects{}, &worked{}
		things.put("a", "ours")
		things.put("b", "ours")
		things.put("foreign", "theirs")
		end := start(t, &Loop[string]{
			Sources: []Source[string]{things.source()}, Workers: 2, Period: time.Hour,
			Reconcile: func(_ context.Context, key string) error { seen.add(key, 0); return nil },
		})
		defer end()
		steps := func(what, want string, do func()) {
			t.Helper()
			do()
			time.Sleep(time.Second)
			if got := seen.take(); got != want {
				t.Errorf("%s: worked on %q, want %q", what, got, want)
			}
		}
		steps("what is there", "a b", func() {})
		steps("a new one", "c", func() { things.put("c", "ours") })
		steps("a change", "a", func() { things.put("a", "ours") })
		steps("one of another class", "", func() { things.put("foreign", "theirs") })
		steps("one that becomes ours", "foreign", func() { things.put("foreign", "ours") })
		steps("one that was ours", "foreign", func() { things.put("foreign", "theirs") })
		steps("a removal", "b", func() { things.remove("b") })
		steps("a period", "a c", func() { time.Sleep(time.Hour + 12*time.Minute) })
		steps("another period", "a c", func() { time.Sleep(time.Hour + 12*time.Minute) })
	})
}

// Never are two workers on one key; a key that changes meanwhile is worked on again, once.
func TestOneWorkerForAKey(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		things := &objects{}
		var mu sync.Mutex
		busy, most, total, times := map[string]int{}, 0, 0, map[string]int{}
		end := start(t, &Loop[string]{
			Sources: []Source[string]{things.source()}, Workers: 3,
			Reconcile: func(_ context.Context, key string) error {
				mu.Lock()
				busy[key]++
				total++
				times[key]++
				most = max(most, total)
				if busy[key] > 1 {
					t.Errorf("two workers on %s", key)
				}
				mu.Unlock()
				time.Sleep(10 * time.Second)
				mu.Lock()
				busy[key]--
				total--
				mu.Unlock()
				return nil
			},
		})
		defer end()
		for i := range 6 {
			things.put(fmt.Sprintf("t%d", i), "ours")
		}
		for range 8 {
			time.Sleep(time.Second)
			things.put("t0", "ours")
		}
		time.Sleep(time.Hour)
		mu.Lock()
		defer mu.Unlock()
		if most != 3 {
			t.Errorf("%d were worked on at once, want 3", most)
		}
		if times["t0"] != 2 || times["t5"] != 1 {
			t.Errorf("worked %d times on one that changed, %d on one that did not", times["t0"], times["t5"])
		}
	})
}

// What fails is tried again, later each time; others do not wait for it.
func TestBackoff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		things, begun := &objects{}, time.Now()
		tried, failing := map[string][]time.Duration{}, true
		var mu sync.Mutex
		things.put("bad", "ours")
		end := start(t, &Loop[string]{
			Sources: []Source[string]{things.source()}, Workers: 1,
			Backoff: Backoff{First: time.Second, Most: time.Minute},
			Reconcile: func(_ context.Context, key string) error {
				mu.Lock()
				defer mu.Unlock()
				tried[key] = append(tried[key], time.Since(begun))
				if key == "bad" && failing {
					return errors.New("failed")
				}
				return nil
			},
		})
		defer end()
		time.Sleep(30 * time.Second)
		things.put("good", "ours")
		time.Sleep(10 * time.Minute)
		mu.Lock()
		waits := tried["bad"]
		for i := range len(waits) - 1 {
			want := min(time.Second<<i, time.Minute)
			if wait := waits[i+1] - waits[i]; wait < want || wait > want+want/5+time.Millisecond {
				t.Errorf("try %d came after %s, want %s and a fifth at most", i+2, wait, want)
			}
		}
		if len(waits) < 10 {
			t.Errorf("only %d tries", len(waits))
		}
		if len(tried["good"]) != 1 || tried["good"][0] > 31*time.Second {
			t.Errorf("the good one was worked on at %v", tried["good"])
		}
		failing = false
		tried["bad"] = nil
		mu.Unlock()
		time.Sleep(10 * time.Minute)
		mu.Lock()
		defer mu.Unlock()
		if len(tried["bad"]) != 1 {
			t.Errorf("after it went well there were %d tries", len(tried["bad"])-1)
		}
	})
}

func TestAgainPanicAndTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		things := &objects{}
		things.put("again", "ours")
		things.put("panics", "ours")
		things.put("slow", "ours")
		times, errs := map[string]int{}, map[string]string{}
		var mu sync.Mutex
		end := start(t, &Loop[string]{
			Sources: []Source[string]{things.source()}, Workers: 4, Timeout: time.Minute,
			Reconcile: func(ctx context.Context, key string) error {
				mu.Lock()
				times[key]++
				n := times[key]
				mu.Unlock()
				switch {
				case n > 1:
				case key == "again":
					return fmt.Errorf("not yet: %w", Again(5*time.Second))
				case key == "panics":
					panic("boom")
				default:
					<-ctx.Done()
					return context.Cause(ctx)
				}
				return nil
			},
			Done: func(key string, took time.Duration, err error) {
				mu.Lock()
				defer mu.Unlock()
				errs[key] += fmt.Sprintf("%s %v; ", took, err)
			},
		})
		defer end()
		time.Sleep(time.Hour)
		mu.Lock()
		defer mu.Unlock()
		for key, want := range map[string]string{
			"again":  "0s <nil>; 0s <nil>; ",
			"panics": "0s reconciling panicked: boom; 0s <nil>; ",
			"slow":   "1m0s reconciling took longer than 1m0s; 0s <nil>; ",
		} {
			if errs[key] != want {
				t.Errorf("%s: %s, want %s", key, errs[key], want)
			}
		}
	})
}

// Run ends with its context, after what is under way, and leaves nothing behind.
func TestStop(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		things, seen := &objects{}, &worked{}
		for i := range 20 {
			things.put(fmt.Sprintf("t%02d", i), "ours")
		}
		end := start(t, &Loop[string]{
			Sources: []Source[string]{things.source()}, Workers: 4, Period: time.Minute,
			Reconcile: func(ctx context.Context, key string) error {
				<-ctx.Done()
				time.Sleep(3 * time.Second) // it cleans up
				seen.add(key, 0)
				return ctx.Err()
			},
		})
		time.Sleep(time.Second)
		begun := time.Now()
		end()
		if took := time.Since(begun); took != 3*time.Second {
			t.Errorf("it took %s", took)
		}
		if n := len(strings.Fields(seen.take())); n != 4 {
			t.Errorf("%d were worked on, want those that were under way", n)
		}
	})
}

func TestOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		first, second, failure := &objects{}, &objects{}, errors.New("failed")
		first.put("a", "ours")
		first.put("foreign", "theirs")
		second.put("b", "ours")
		second.put("a", "ours") // one key of two objects
		l := &Loop[string]{
			Sources: []Source[string]{first.source(), second.source()}, Workers: 2, Log: slog.New(slog.DiscardHandler),
			Reconcile: func(_ context.Context, key string) error {
				if key == "b" {
					return failure
				}
				return Again(time.Second)
			},
		}
		var mu sync.Mutex
		told := map[string]error{}
		results, err := l.Once(t.Context(), func(r Result[string]) {
			mu.Lock()
			defer mu.Unlock()
			told[r.Key] = r.Err
		})
		if err != nil || len(results) != 2 || results[0].Key != "a" || results[0].Err != nil ||
			!errors.Is(results[1].Err, failure) {
			t.Errorf("the results are %v, %v", results, err)
		}
		if len(told) != 2 || told["a"] != nil || !errors.Is(told["b"], failure) {
			t.Errorf("it told %v", told)
		}
	})
}

// One pass waits for what a key has to wait for.
func TestOnceWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		things, begun := &objects{}, time.Now()
		things.put("a", "ours")
		done := make(chan struct{})
		time.AfterFunc(time.Minute, func() { close(done) })
		l := &Loop[string]{
			Sources: []Source[string]{things.source()}, Workers: 1, Log: slog.New(slog.DiscardHandler),
			Reconcile: func(context.Context, string) error {
				select {
				case <-done:
					return nil
				default:
					return After(done)
				}
			},
		}
		results, err := l.Once(t.Context(), nil)
		if err != nil || len(results) != 1 || results[0].Err != nil || time.Since(begun) != time.Minute {
			t.Errorf("after %s: %v, %v", time.Since(begun), results, err)
		}
	})
}
