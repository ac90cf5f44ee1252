package rollout

import (
	"context"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	apiwatch "k8s.io/apimachinery/pkg/watch"
)

// input is one watch of a Follower.
type input struct {
	*Follower
	stop     context.CancelFunc
	isOpen   bool // it has not ended
	isListed bool // it is known what there is
	objects  map[types.UID]runtime.Object
}

// ended takes the end of the watch. Of what may not be read, nothing is claimed any more.
func (in *input) ended(ctx context.Context, err error) {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.isOpen, in.objects = false, nil
	if ctx.Err() == nil && !in.noted {
		in.noted = true
		in.note(unseenText(err))
	}
	in.signal()
}

// Replace takes a list: what is not in it is gone.
func (in *input) Replace(objects []runtime.Object, _ string) {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.objects, in.isListed = map[types.UID]runtime.Object{}, true
	for _, object := range objects {
		in.put(apiwatch.Added, object)
	}
	in.signal()
}

// Apply takes a change.
func (in *input) Apply(change apiwatch.EventType, object runtime.Object) {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.put(change, object)
	in.signal()
}

// put notes an object; the lock is held.
func (in *input) put(change apiwatch.EventType, object runtime.Object) {
	o, err := meta.Accessor(object)
	switch {
	case err != nil: // a bookmark
	case change == apiwatch.Deleted:
		delete(in.objects, o.GetUID())
	default:
		in.objects[o.GetUID()] = object
	}
}

// Listing, Opened and Interrupted are of no interest: a watch that is interrupted is opened
// again.
func (*input) Listing()          {}
func (*input) Opened()           {}
func (*input) Interrupted(error) {}
