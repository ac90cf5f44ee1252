package pace

import (
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

func TestWatch(t *testing.T) {
	const within = 30 * time.Second
	for name, c := range map[string]struct {
		bytes int
		every time.Duration
		ends  time.Duration // 0 for not at all
	}{
		"nothing":                   {0, time.Second, within},
		"a byte a second":           {1, time.Second, within},
		"a little less than enough": {900, time.Second, within},
		"enough":                    {1200, time.Second, 0},
		"enough, in pieces":         {20 << 10, 14 * time.Second, 0},
		"much, and then nothing":    {1 << 20, 40 * time.Second, within},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				begun := time.Now()
				var ended atomic.Int64
				w := New(within, func() { ended.Store(int64(time.Since(begun))) })
				defer w.Disarm()
				for time.Since(begun) < 10*time.Minute && ended.Load() == 0 {
					time.Sleep(c.every)
					synctest.Wait()
					if ended.Load() == 0 {
						w.Heard(c.bytes)
					}
				}
				if got := time.Duration(ended.Load()); got != c.ends {
					t.Errorf("it ended after %s, not after %s", got, c.ends)
				}
			})
		})
	}
}

// What is done with what has come takes its time, and what is expected then has its own.
func TestRest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var ended atomic.Bool
		w := New(time.Second, func() { ended.Store(true) })
		w.Disarm()
		time.Sleep(time.Hour)
		w.Arm()
		time.Sleep(900 * time.Millisecond)
		synctest.Wait()
		if ended.Load() {
			t.Error("it ended while nothing was expected")
		}
		time.Sleep(200 * time.Millisecond)
		synctest.Wait()
		if !ended.Load() {
			t.Error("it has not ended")
		}
	})
}
