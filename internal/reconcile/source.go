package reconcile

import (
	"context"
	"maps"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/tools/cache"

	"github.com/berthdev/berth/internal/kube/transport"
)

// Source is one resource whose objects are watched.
type Source[K comparable] struct {
	Objects dynamic.ResourceInterface
	// Selector limits the objects by their labels; empty for all.
	Selector string
	// Keys are what to work on because of an object; none for one that is not ours.
	Keys func(*unstructured.Unstructured) []K
	// Keep makes an object smaller, which stays in memory while it exists: what Keys and Changed need. It may be nil.
	Keep func(*unstructured.Unstructured) *unstructured.Unstructured
	// Changed says whether a change is one to work on; nil for every change.
	Changed func(old, changed *unstructured.Unstructured) bool
}

// SpecChanged is a Changed that leaves out what controllers write themselves: status, and who manages which field.
func SpecChanged(old, changed *unstructured.Unstructured) bool {
	return old.GetUID() != changed.GetUID() || old.GetGeneration() != changed.GetGeneration() ||
		(old.GetDeletionTimestamp() == nil) != (changed.GetDeletionTimestamp() == nil) ||
		len(old.GetFinalizers()) != len(changed.GetFinalizers()) ||
		!maps.Equal(old.GetLabels(), changed.GetLabels()) || !maps.Equal(old.GetAnnotations(), changed.GetAnnotations())
}

// watcher follows the objects of a source.
type watcher[K comparable] struct {
	source     Source[K]
	store      cache.Store
	controller cache.Controller
}

// watch makes a watcher that adds the keys of what changes.
func (s Source[K]) watch(add func(K)) *watcher[K] {
	w := &watcher[K]{source: s}
	tell := func(objects ...any) {
		told := map[K]bool{}
		for _, o := range objects {
			for _, key := range w.keys(o) {
				if !told[key] {
					told[key] = true
					add(key)
				}
			}
		}
	}
	w.store, w.controller = cache.NewInformerWithOptions(cache.InformerOptions{
		ListerWatcher: s.lister(), ObjectType: &unstructured.Unstructured{}, Transform: s.transform,
		Handler: cache.ResourceEventHandlerFuncs{
			AddFunc:    func(o any) { tell(o) },
			DeleteFunc: func(o any) { tell(o) },
			UpdateFunc: func(old, changed any) {
				// Whom an object no longer concerns has to know that, too.
				if w.changed(old, changed) {
					tell(old, changed)
				}
			},
		},
	})
	return w
}

func (s Source[K]) lister() cache.ListerWatcher {
	return &cache.ListWatch{
		// client-go's reflector repeats what fails by itself.
		ListWithContextFunc: func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
			o.LabelSelector = s.Selector
			return s.Objects.List(transport.Once(ctx), o)
		},
		WatchFuncWithContext: func(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
			o.LabelSelector = s.Selector
			return s.Objects.Watch(transport.Once(ctx), o)
		},
	}
}

// transform makes what is kept in memory small.
func (s Source[K]) transform(o any) (any, error) {
	object, ok := o.(*unstructured.Unstructured)
	if !ok {
		return o, nil
	}
	if s.Keep != nil {
		return s.Keep(object), nil
	}
	object.SetManagedFields(nil)
	return object, nil
}

func (w *watcher[K]) keys(o any) []K {
	if gone, ok := o.(cache.DeletedFinalStateUnknown); ok {
		o = gone.Obj
	}
	object, ok := o.(*unstructured.Unstructured)
	if !ok {
		return nil
	}
	return w.source.Keys(object)
}

func (w *watcher[K]) changed(old, changed any) bool {
	before, ok := old.(*unstructured.Unstructured)
	after, also := changed.(*unstructured.Unstructured)
	if !ok || !also || before.GetResourceVersion() == after.GetResourceVersion() {
		return false // listed again
	}
	return w.source.Changed == nil || w.source.Changed(before, after)
}

func (w *watcher[K]) run(ctx context.Context) { w.controller.RunWithContext(ctx) }

// listEvery is how often it is looked whether all is listed.
const listEvery = 50 * time.Millisecond

// wait waits until the objects are listed, and says whether they are.
func (w *watcher[K]) wait(ctx context.Context) bool {
	look := time.NewTicker(listEvery)
	defer look.Stop()
	for !w.controller.HasSynced() {
		select {
		case <-ctx.Done():
			return false
		case <-look.C:
		}
	}
	return true
}

// all adds the keys of all objects.
func (w *watcher[K]) all(add func(K)) {
	for _, o := range w.store.List() {
		for _, key := range w.keys(o) {
			add(key)
		}
	}
}
