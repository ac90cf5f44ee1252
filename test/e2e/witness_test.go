//go:build e2e

package e2e

import (
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
)

// sign says whether an object shows the change that a test waits for.
type sign func(object any) bool

// witness watches a namespace for itself and keeps when it first saw a sign.
type witness struct {
	w    *world
	mu   sync.Mutex
	at   time.Time
	shut chan struct{}
}

func (w *world) witness(is sign) *witness {
	w.Helper()
	out := &witness{w: w, shut: make(chan struct{})}
	var once sync.Once
	opts := metav1.ListOptions{}
	pods, err := w.CoreV1().Pods(w.namespace).Watch(w.Context(), opts)
	if err != nil {
		w.Fatal(err)
	}
	events, err := w.CoreV1().Events(w.namespace).Watch(w.Context(), opts)
	if err != nil {
		w.Fatal(err)
	}
	for _, source := range []watch.Interface{pods, events} {
		w.Cleanup(source.Stop)
		go func() {
			for change := range source.ResultChan() {
				if is(change.Object) {
					once.Do(func() { out.saw(time.Now()) })
				}
			}
		}()
	}
	return out
}

func (o *witness) saw(at time.Time) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.at = at
	close(o.shut)
}

// seen waits for the sign.
func (o *witness) seen(within time.Duration) time.Time {
	o.w.Helper()
	select {
	case <-o.shut:
	case <-time.After(within):
		o.w.Fatalf("after %s the cluster still shows no sign of it", within)
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.at
}

// busy is how many times slower than promised a machine may be that runs many
// tests at once. A follower that polls, or waits for the next attempt of the
// kubelet, is later than that.
const busy = 5

// within says how long after the sign something came, and fails the test if that
// is not even a busy machine's share of what is promised. The sign itself may
// come later than an event that told the same.
func (o *witness) within(promised time.Duration, at time.Time, what string) {
	o.w.Helper()
	late := at.Sub(o.seen(30 * time.Second))
	o.w.Logf("%s came %s after the change, %s is promised", what, late.Round(time.Millisecond), promised)
	if late > busy*promised {
		o.w.Errorf("%s came %s after the change, and %s is promised", what, late, promised)
	}
}
