package reconcile

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

func TestJudge(t *testing.T) {
	broken := errors.New("broken")
	for name, c := range map[string]struct {
		err  error
		slow bool
		want verdict
	}{
		"well":                         {nil, false, forget},
		"well at last":                 {nil, true, forget},
		"not ready yet":                {Again(time.Second), false, wait},
		"not ready, slowly":            {Again(time.Second), true, wait},
		"something has to end":         {After(nil), false, park},
		"something has to end, slowly": {After(nil), true, park},
		"broken":                       {broken, false, retry},
		"broken, slowly":               {broken, true, retry},
		"takes long":                   {Slowly(broken), false, move},
		"takes long for a slow worker": {Slowly(broken), true, retry},
	} {
		if got := judge(c.err, c.slow); got != c.want {
			t.Errorf("%s: %d, want %d", name, got, c.want)
		}
		if failed := c.want == retry; !c.slow && Failed(c.err) != failed {
			t.Errorf("%s: failed is %t", name, !failed)
		}
	}
}

// Ten keys that never end, and are given up after a second, keep one that is quick waiting for as long as the workers
// need to give them up; the second time for nothing at all. They are tried again one at a time, later each time.
func TestSlowKeysKeepNobodyWaiting(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		begun := time.Now()
		var mu sync.Mutex
		busy, slowly := map[int]bool{}, 0
		tries, ended := map[int]int{}, []time.Duration{}
		add := make(chan int)
		l := &Loop[int]{
			Workers: 4, SlowWorkers: 1, Backoff: DefaultBackoff(), Log: slog.New(slog.DiscardHandler),
			Feed: func(ctx context.Context, queue func(int)) {
				for {
					select {
					case key := <-add:
						queue(key)
					case <-ctx.Done():
						return
					}
				}
			},
			Reconcile: func(ctx context.Context, key int) error {
				mu.Lock()
				if busy[key] {
					t.Errorf("two work on %d", key)
				}
				busy[key] = true
				if IsSlow(ctx) {
					slowly++
					if slowly > 1 {
						t.Error("two slow keys are worked on at once")
					}
					tries[key]++
				}
				mu.Unlock()
				defer func() {
					mu.Lock()
					defer mu.Unlock()
					busy[key] = false
					if IsSlow(ctx) {
						slowly--
					}
				}()
				switch {
				case key == 0:
					ended = append(ended, time.Since(begun))
					return nil
				case IsSlow(ctx):
					time.Sleep(20 * time.Second)
					return errors.New("does not end")
				}
				time.Sleep(time.Second)
				return Slowly(errors.New("takes long"))
			},
		}
		var running sync.WaitGroup
		running.Go(func() { l.Run(ctx, nil) })
		for key := range 10 {
			add <- key + 1
		}
		add <- 0
		time.Sleep(time.Minute)
		for key := range 10 {
			add <- key + 1 // while some of them are worked on
		}
		time.Sleep(5 * time.Second)
		again := time.Since(begun)
		add <- 0
		time.Sleep(2 * time.Hour)
		cancel()
		running.Wait()
		if len(ended) != 2 || ended[0] > 4*time.Second || ended[1]-again > time.Second {
			t.Errorf("it had its turn after %v", ended)
		}
		for key, n := range tries {
			if n < 5 || n > 40 {
				t.Errorf("%d was tried %d times in two hours", key, n)
			}
		}
		if len(tries) != 10 {
			t.Errorf("tried %v", tries)
		}
	})
}

// What goes on without a worker holds none. When it has ended its key is worked on again; after an error as late as
// after those before it, however often it had to wait.
func TestAfter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		things := &objects{}
		for _, name := range []string{"goes-on-1", "goes-on-2", "quick"} {
			things.put(name, "ours")
		}
		var mu sync.Mutex
		begun, quick, tries := time.Now(), []time.Duration{}, map[string][]time.Duration{}
		going := map[string]chan struct{}{}
		end := start(t, &Loop[string]{
			Sources: []Source[string]{things.source()}, Workers: 1,
			Backoff: Backoff{First: time.Second, Most: time.Hour},
			Reconcile: func(_ context.Context, key string) error {
				mu.Lock()
				defer mu.Unlock()
				if key == "quick" {
					quick = append(quick, time.Since(begun))
					return nil
				}
				if done := going[key]; done != nil {
					delete(going, key)
					return errors.New("it failed")
				}
				done := make(chan struct{})
				going[key] = done
				tries[key] = append(tries[key], time.Since(begun))
				time.AfterFunc(time.Minute, func() { close(done) })
				return After(done)
			},
		})
		defer end()
		time.Sleep(30 * time.Minute)
		mu.Lock()
		defer mu.Unlock()
		if len(quick) != 1 || quick[0] > time.Second {
			t.Errorf("the quick one had its turn after %v", quick)
		}
		for key, at := range tries {
			for i := 1; i < len(at); i++ {
				if wait := at[i] - at[i-1] - time.Minute; wait < time.Second<<(i-1) {
					t.Errorf("%s was tried again %s after its failure %d", key, wait, i)
				}
			}
			if len(at) < 5 {
				t.Errorf("%s was tried after %v", key, at)
			}
		}
	})
}
