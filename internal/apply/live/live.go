// Package live keeps what the cluster has of a set of objects up to date: one watch
// for each kind, by a label, whatever the number of objects. What is to be applied is
// compared with it, and whether it is healthy is read from it, without a request.
package live

import (
	"context"
	"sync"

	"golang.org/x/sync/errgroup"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/dynamic"

	"github.com/berthdev/berth/internal/kube"
	"github.com/berthdev/berth/internal/watch/follow"
)

// Scope is what one watch is about: the objects of a kind in a namespace; in all of them, or in none, if that is empty.
type Scope struct {
	kube.Resource
	Namespace string
}

// View is what the cluster has. It is safe for concurrent use.
type View struct {
	client   dynamic.Interface
	selector string
	group    sync.WaitGroup

	mu      sync.Mutex
	inputs  map[Scope]*input
	objects map[reference]*unstructured.Unstructured
	changed chan struct{} // closed, and replaced, with the next change
	err     error
}

// reference is how an object is found.
type reference struct {
	schema.GroupVersionResource
	namespace, name string
}

// New is a view of the objects that a label selector selects. It asks for nothing until it is told to watch.
func New(client dynamic.Interface, selector string) *View {
	return &View{
		client: client, selector: selector, changed: make(chan struct{}),
		inputs: map[Scope]*input{}, objects: map[reference]*unstructured.Unstructured{},
	}
}

// Watch adds scopes, and returns once it is known what there is of each. One that the
// view has costs nothing. Of a kind that the cluster does not have there is nothing;
// it is asked for again by the next call. The watches end with ctx, or with Close.
func (v *View) Watch(ctx context.Context, scopes ...Scope) error {
	group, waiting := errgroup.WithContext(ctx)
	for _, scope := range scopes {
		in := v.open(ctx, scope)
		group.Go(func() error { return in.wait(waiting) })
	}
	return group.Wait()
}

// open begins to watch, unless that has been done.
func (v *View) open(ctx context.Context, scope Scope) *input {
	v.mu.Lock()
	defer v.mu.Unlock()
	if in := v.inputs[scope]; in != nil && !in.missing {
		return in
	}
	in := &input{view: v, scope: scope, known: make(chan struct{})}
	ctx, in.stop = context.WithCancel(ctx)
	v.inputs[scope] = in
	v.group.Go(func() { in.run(ctx) })
	return in
}

// Close ends the watches and waits until they have ended.
func (v *View) Close() {
	v.mu.Lock()
	for _, in := range v.inputs {
		in.stop()
	}
	v.mu.Unlock()
	v.group.Wait()
}

// Get returns an object, or nil if no object of that name has the label. Known is false for a resource or a namespace
// that is not watched. The object must not be changed.
func (v *View) Get(resource kube.Resource, namespace, name string) (object *unstructured.Unstructured, known bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	for _, scope := range []Scope{{resource, namespace}, {Resource: resource}} {
		if in := v.inputs[scope]; in != nil && in.isKnown() {
			return v.objects[reference{resource.GroupVersionResource, namespace, name}], true
		}
	}
	return nil, false
}

// Objects are all of them, in no order.
func (v *View) Objects() []*unstructured.Unstructured {
	v.mu.Lock()
	defer v.mu.Unlock()
	all := make([]*unstructured.Unstructured, 0, len(v.objects))
	for _, object := range v.objects {
		all = append(all, object)
	}
	return all
}

// Changed is closed with the next change. A caller that takes it before it looks misses nothing.
func (v *View) Changed() <-chan struct{} {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.changed
}

// Until looks at the view with each change until it is done or fails, or until ctx ends, with its error.
func (v *View) Until(ctx context.Context, look func() (done bool, err error)) error {
	for {
		changed := v.Changed()
		if done, err := look(); done || err != nil {
			return err
		}
		select {
		case <-changed:
			if err := v.Err(); err != nil {
				return err
			}
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// Err is why a watch has ended though nobody has ended it; nil as long as all are open
// that Watch has opened without an error.
func (v *View) Err() error {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.err
}

// change does something to the view and tells those who wait.
func (v *View) change(do func()) {
	v.mu.Lock()
	defer v.mu.Unlock()
	do()
	close(v.changed)
	v.changed = make(chan struct{})
}

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
		case in.isOpen(): // the caller that asked for it is told
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

// Listing, Opened and Interrupted are of no interest: a watch that is interrupted is opened again.
func (*input) Listing() {}

func (*input) Opened() {}

func (*input) Interrupted(error) {}

// watcher asks for lists and watches of objects of any kind.
type watcher struct{ dynamic.ResourceInterface }

func (w watcher) List(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
	return w.ResourceInterface.List(ctx, o)
}

func (w watcher) Watch(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
	return w.ResourceInterface.Watch(ctx, o)
}
