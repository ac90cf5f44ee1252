package reconcile

import (
	"context"
	"strconv"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/dynamic"
)

// objects is a resource of an API server.
type objects struct {
	dynamic.ResourceInterface
	mu      sync.Mutex
	version int
	all     map[string]*unstructured.Unstructured
	watches []*watch.RaceFreeFakeWatcher
}

func (o *objects) List(context.Context, metav1.ListOptions) (*unstructured.UnstructuredList, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	list := &unstructured.UnstructuredList{Object: map[string]any{"kind": "ThingList", "apiVersion": "v1"}}
	list.SetResourceVersion(strconv.Itoa(o.version))
	for _, object := range o.all {
		list.Items = append(list.Items, *object.DeepCopy())
	}
	return list, nil
}

func (o *objects) Watch(_ context.Context, options metav1.ListOptions) (watch.Interface, error) {
	if options.SendInitialEvents != nil { // as an older server
		return nil, apierrors.NewInvalid(schema.GroupKind{Kind: "ListOptions"}, "", nil)
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	w := watch.NewRaceFreeFake()
	o.watches = append(o.watches, w)
	return w, nil
}

// put creates or changes an object of a class.
func (o *objects) put(name, class string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.all == nil {
		o.all = map[string]*unstructured.Unstructured{}
	}
	o.version++
	_, known := o.all[name]
	object := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "v1", "kind": "Thing", "metadata": map[string]any{"name": name},
		"spec": map[string]any{"class": class},
	}}
	object.SetResourceVersion(strconv.Itoa(o.version))
	object.SetGeneration(int64(o.version))
	o.all[name] = object
	for _, w := range o.watches {
		if known {
			w.Modify(object.DeepCopy())
		} else {
			w.Add(object.DeepCopy())
		}
	}
}

func (o *objects) remove(name string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	gone := o.all[name]
	delete(o.all, name)
	o.version++
	gone.SetResourceVersion(strconv.Itoa(o.version))
	for _, w := range o.watches {
		w.Delete(gone.DeepCopy())
	}
}

// ours are the names of the objects of the class "ours".
func (o *objects) source() Source[string] {
	return Source[string]{Objects: o, Keys: func(object *unstructured.Unstructured) []string {
		if class, _, _ := unstructured.NestedString(object.Object, "spec", "class"); class != "ours" {
			return nil
		}
		return []string{object.GetName()}
	}}
}
