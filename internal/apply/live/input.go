package live

import (
	"context"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/dynamic"

	"github.com/berthdev/berth/internal/watch/follow"
)

// input is one watch.
type input struct {
	view    *View
	scope   Scope
	stop    context.CancelFunc
	known   chan struct{} // closed once it is known what there is
	missing bool          // the cluster does not have the kind
	err     error         // of a watch that never told what there is
}

// wait waits until it is known what there is.
func (in *input) wait(ctx context.Context) error {
	select {
	case <-in.known:
		return in.err
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (in *input) isKnown() bool {
	select {
	case <-in.known:
		return in.err == nil
	default:
		return false
	}
}

func (in *input) run(ctx context.Context) {
	var client dynamic.ResourceInterface = in.view.client.Resource(in.scope.GroupVersionResource)
	if in.scope.Namespace != "" {
		client = in.view.client.Resource(in.scope.GroupVersionResource).Namespace(in.scope.Namespace)
	}
	err := follow.Reflect(ctx, follow.Source{
		Client: watcher{client}, Resource: in.scope.GroupResource().String(), Namespace: in.scope.Namespace,
		Labels: in.view.selector,
		Covers: func(metav1.Object) bool { return true }, Sync: true,
	}, in)
	in.view.change(func() {
		in.missing = apierrors.IsNotFound(err)
		switch {
		case in.isOpen() && in.missing:
			close(in.known)
		case in.isOpen(): // who has asked for it is told
			in.err = err
			close(in.known)
		case ctx.Err() == nil && !in.missing && in.view.err == nil:
			in.view.err = err
		}
	})
}

// isOpen is true as long as it is not known what there is; the lock is held.
func (in *input) isOpen() bool {
	select {
	case <-in.known:
		return false
	default:
		return true
	}
}

// Replace takes a list: what is not in it is gone.
func (in *input) Replace(objects []runtime.Object, _ string) {
	in.view.change(func() {
		for at := range in.view.objects {
			if at.GroupVersionResource == in.scope.GroupVersionResource &&
				(in.scope.Namespace == "" || in.scope.Namespace == at.namespace) {
				delete(in.view.objects, at)
			}
		}
		for _, object := range objects {
			in.put(watch.Added, object)
		}
		if in.isOpen() {
			close(in.known)
		}
	})
}

// Apply takes a change.
func (in *input) Apply(change watch.EventType, object runtime.Object) {
	in.view.change(func() { in.put(change, object) })
}

// put notes an object; the lock is held.
func (in *input) put(change watch.EventType, object runtime.Object) {
	o, ok := object.(*unstructured.Unstructured)
	if !ok {
		return
	}
	at := reference{in.scope.GroupVersionResource, o.GetNamespace(), o.GetName()}
	if change == watch.Deleted {
		delete(in.view.objects, at)
		return
	}
	in.view.objects[at] = o
}

// Listing, Opened and Interrupted are of no interest: a watch that is interrupted is
// opened again.
func (*input) Listing()          {}
func (*input) Opened()           {}
func (*input) Interrupted(error) {}

// watcher asks for lists and watches of objects of any kind.
type watcher struct{ dynamic.ResourceInterface }

func (w watcher) List(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
	return w.ResourceInterface.List(ctx, o)
}

func (w watcher) Watch(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
	return w.ResourceInterface.Watch(ctx, o)
}
