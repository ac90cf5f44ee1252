package ssh

import (
	"context"
	"sync"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/berthdev/berth/internal/exec/pod"
	"github.com/berthdev/berth/internal/kube"
)

// watched is where the workspace of a connection is, as long as a watch says so: a channel need not ask then. An editor
// opens one for each command.
type watched struct {
	mu    sync.Mutex
	now   *located // nil if that has to be asked for
	going bool
}

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
	if w.going || l.version == "" {
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
	events, err := l.client.CoreV1().Pods(l.client.Namespace).Watch(ctx, metav1.ListOptions{
		FieldSelector:   fields.OneTermEqualSelector(metav1.ObjectNameField, l.pod.Name).String(),
		ResourceVersion: l.version,
	})
	if err != nil {
		return
	}
	defer events.Stop()
	w.set(&l)
	for e := range events.ResultChan() {
		p, ok := e.Object.(*corev1.Pod)
		if !ok || e.Type == watch.Deleted {
			return
		}
		w.set(l.as(p))
	}
}

// as is the workspace with its pod as it is now; nil if it is not there, or cannot be entered.
func (l located) as(p *corev1.Pod) *located {
	if p.Labels[kube.LabelCanonicalID] != l.pod.Labels[kube.LabelCanonicalID] {
		return nil
	}
	r, err := pod.Place{Ready: true}.In([]*corev1.Pod{p})
	if err != nil {
		return nil
	}
	return &located{client: l.client, pod: p, request: r, version: l.version}
}
