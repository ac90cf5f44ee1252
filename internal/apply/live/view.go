// Package live keeps what the cluster has of a set of objects up to date: one watch
// for each kind, by a label, whatever the number of objects. What is to be applied is
// compared with it, and whether it is healthy is read from it, without a request.
package live

import (
	"context"
	"sync"

	"golang.org/x/sync/errgroup"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"

	"github.com/berthdev/berth/internal/kube"
)

// Scope is what one watch is about: the objects of a kind in a namespace; in all of
// them, or in none, if that is empty.
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

// New is a view of the objects that a label selector selects. It asks for nothing
// until it is told to watch.
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

// Get is an object, nil if there is none with the label. It is not known whether there
// is one of a scope that is not watched. It must not be changed.
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
