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
		"broken":                       {broken, false, retry},
		"broken, slowly":               {broken, true, retry},
		"takes long":                   {Slowly(broken), false, move},
		"takes long for a slow worker": {Slowly(broken), true, retry},
	} {
		if got := judge(c.err, c.slow); got != c.want {
			t.Errorf("%s: %d, want %d", name, got, c.want)
		}
	}
}

// Ten keys that never end, and are given up after a second, keep one that is quick waiting for
// as long as the workers need to give them up; the second time for nothing at all. They are
// tried again one at a time, later each time.
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
