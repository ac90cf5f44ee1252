package ssh

import (
	"context"
	"maps"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/berthdev/berth/internal/exec/pod"
)

// watched is where the workspace of a connection is, as long as a watch says so: a channel need not ask then. An editor
// opens one for each command.
type watched struct {
	mu    sync.Mutex
	now   *located // nil if that has to be asked for
	going bool
	never bool // a watch was refused
}

// watchFor is how long a watch is believed, as one that was cut off says nothing.
const watchFor = time.Minute

// get is where the workspace is; false if that has to be asked for.
func (w *watched) get() (located, bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.now == nil {
		return located{}, false
	}
	return *w.now, true
}

func (w *watched) set(l *located) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.now = l
}

// follow watches a workspace from where it was found, until the context or the watch ends. Where pods may not be
// watched, each channel asks.
func (w *watched) follow(ctx context.Context, l located) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.going || w.never || l.version == "" {
		return
	}
	w.going = true
	go func() {
		w.watch(ctx, l)
		w.mu.Lock()
		defer w.mu.Unlock()
		w.now, w.going = nil, false
	}()
}

func (w *watched) watch(ctx context.Context, l located) {
	ctx, cancel := context.WithTimeout(ctx, watchFor)
	defer cancel()
	events, err := l.client.CoreV1().Pods(l.client.Namespace).Watch(ctx, metav1.ListOptions{
		FieldSelector:   fields.OneTermEqualSelector(metav1.ObjectNameField, l.pod.Name).String(),
		ResourceVersion: l.version,
	})
	if err != nil {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.never = true
		return
	}
	defer events.Stop()
	w.set(&l)
	for e := range events.ResultChan() {
		p, ok := e.Object.(*corev1.Pod)
		if !ok || e.Type == watch.Deleted || !l.is(p) {
			return
		}
		w.set(l.as(p))
	}
}

// is says whether a pod is the one that was found, and says the same of whose it is: another one is looked up.
func (l located) is(p *corev1.Pod) bool {
	return p.UID == l.pod.UID && maps.Equal(p.Labels, l.pod.Labels) && maps.Equal(p.Annotations, l.pod.Annotations)
}

// as is the workspace with its pod as it is now; nil if it cannot be entered.
func (l located) as(p *corev1.Pod) *located {
	r, err := pod.Place{Ready: true}.In([]*corev1.Pod{p})
	if err != nil {
		return nil
	}
	return &located{client: l.client, pod: p, request: r, version: l.version}
}
