package follow

import (
	"context"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	apiwatch "k8s.io/apimachinery/pkg/watch"
)

// input is what comes from one source.
type input struct {
	*Follower
	source Source
	pods   bool // it is the source of the subject's pod
	opened bool
	ready  chan error // holds one: nil once the watch is open, or why it is not

	awaited []types.UID // of the list that was asked for last
}

func (in *input) run(ctx context.Context) {
	err := Reflect(ctx, in.source, in)
	in.mu.Lock()
	defer in.mu.Unlock()
	if !in.opened {
		in.ready <- err
		return
	}
	if in.err == nil {
		in.err = err
	}
	in.signal()
}

// Listing notes which pods a list that is asked for now must have.
func (in *input) Listing() {
	in.mu.Lock()
	defer in.mu.Unlock()
	if in.pods {
		in.awaited = slices.Collect(maps.Keys(in.Follower.awaited))
	}
}

// Replace takes a list.
func (in *input) Replace(objects []runtime.Object, version string) {
	in.replace(objects, version, in.source.Covers, in.awaited)
}

// Apply takes a change.
func (in *input) Apply(change apiwatch.EventType, object runtime.Object) {
	in.mu.Lock()
	defer in.mu.Unlock()
	if _, ok := object.(*corev1.Event); ok {
		in.pushEvent(in.state.Apply(change, object))
		return
	}
	in.push(in.state.Apply(change, object))
}

// Opened ends an outage.
func (in *input) Opened() {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.outage.ended(in)
	in.signal()
	if !in.opened {
		in.opened = true
		in.ready <- nil
	}
}

// Interrupted begins an outage.
func (in *input) Interrupted(err error) {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.outage.began(in, err)
	in.signal()
}
