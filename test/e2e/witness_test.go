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

// within fails the test if something came later after the sign than it may.
func (o *witness) within(most time.Duration, at time.Time, what string) {
	o.w.Helper()
	late := at.Sub(o.seen(time.Second))
	o.w.Logf("%s came %s after the change", what, late.Round(time.Millisecond))
	if late > most {
		o.w.Errorf("%s came %s after the change, want %s at most", what, late, most)
	}
}
