// Package controller works on the bundles and instances of berth's classes: all the
// time as the leader of each class, or in one pass.
package controller

import (
	"context"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	coordination "k8s.io/client-go/kubernetes/typed/coordination/v1"

	"github.com/berthdev/berth/api/bundle/v1alpha1"
	"github.com/berthdev/berth/internal/bundle/observe"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/kube"
	"github.com/berthdev/berth/internal/reconcile"
	"github.com/berthdev/berth/internal/serve"
)

// Reconciler makes the cluster what one object says. An object that is gone by then
// is not an error.
type Reconciler interface {
	Bundle(ctx context.Context, name string) error
	// Instance also gives what is to be watched for it from then on.
	Instance(ctx context.Context, name string) (observe.Set, error)
}

// Key is an object to work on: v1alpha1.KindBundle or KindInstance, and its name.
type Key struct{ Kind, Name string }

// String is the key as kind/name.
func (k Key) String() string { return kube.Object(k.Kind, k.Name) }

// Controller is what works on the objects of some classes.
type Controller struct {
	Client     dynamic.Interface
	Reconciler Reconciler
	Classes    []string
	Workers    int           // for each class
	Period     time.Duration // of the passes over all objects
	Timeout    time.Duration // of the work on one object
	Log        *slog.Logger
}

// Election is what a controller takes to become the leader.
type Election struct {
	Leases              coordination.LeasesGetter
	Namespace, Identity string
	Metrics             *serve.Metrics
	// Health is told whether what this process leads can be read; see Run.
	Health *serve.Health
}

// Run works as the leader of each class that this process becomes it of, until ctx
// ends. Classes are independent: of two processes, each may lead some.
func (c *Controller) Run(ctx context.Context, e Election) {
	var classes sync.WaitGroup
	for _, class := range c.Classes {
		listed := new(atomic.Bool)
		listed.Store(true)
		e.Health.Check("objects of class "+class, func(context.Context) error {
			if !listed.Load() {
				return fault.New(fault.Unavailable, "bundles and instances are not listed yet")
			}
			return nil
		})
		election := serve.Election{
			Leases: e.Leases, Namespace: e.Namespace, Name: serve.LeaseName(class), Identity: e.Identity, Log: c.Log,
			Leading: func(leads bool) {
				listed.Store(!leads)
				e.Metrics.Leading(class, leads)
				c.Log.Info("leadership", slog.String("class", class), slog.Bool("leads", leads))
			},
		}
		classes.Go(func() {
			election.Lead(ctx, func(ctx context.Context) error {
				watches := observe.New(c.Log)
				loop := c.loop(watches, []string{v1alpha1.KindBundle, v1alpha1.KindInstance}, class)
				loop.Feed = func(ctx context.Context, add func(Key)) {
					watches.Run(ctx, func(name string) { add(Key{v1alpha1.KindInstance, name}) })
				}
				// What became of a bundle concerns its instance, no matter who unpacks it.
				bundles := &loop.Sources[0]
				bundles.Changed = nil
				bundles.Keys = func(o *unstructured.Unstructured) []Key {
					return append(own(v1alpha1.KindBundle, o, []string{class}), owner(o)...)
				}
				loop.SlowWorkers = 1 // for charts that take long, so that they keep nobody waiting
				loop.Done = func(key Key, took time.Duration, err error) { e.Metrics.Reconciled(key.Kind, took, err) }
				loop.Run(ctx, func() { listed.Store(true) })
				return nil
			})
		})
	}
	classes.Wait()
}

// Pass works once on each object of the classes and of these kinds: KindBundle,
// KindInstance or both. Ended is told of each, from several goroutines. The error is
// that of a kind that cannot be listed.
func (c *Controller) Pass(ctx context.Context, kinds []string,
	ended func(reconcile.Result[Key]),
) ([]reconcile.Result[Key], error) {
	loop := c.loop(nil, kinds, c.Classes...)
	results, err := loop.Once(ctx, ended)
	return results, kube.Fault(err, kube.Call{Verb: "list", Resource: v1alpha1.Instances().GroupResource().String()})
}

// loop works on the objects of some kinds and classes, and has what they install watched if there are watches.
func (c *Controller) loop(watches *observe.Watches, kinds []string, classes ...string) *reconcile.Loop[Key] {
	loop := &reconcile.Loop[Key]{
		Workers: c.Workers, Period: c.Period, Timeout: c.Timeout, Backoff: reconcile.DefaultBackoff(), Log: c.Log,
		Reconcile: func(ctx context.Context, key Key) error { return c.one(ctx, key, watches, classes) },
	}
	for _, kind := range kinds {
		source := reconcile.Source[Key]{
			Objects: c.Client.Resource(resourceOf(kind)), Keep: thin,
			Changed: reconcile.SpecChanged,
		}
		source.Keys = func(o *unstructured.Unstructured) []Key { return own(kind, o, classes) }
		loop.Sources = append(loop.Sources, source)
	}
	return loop
}

// one works on an object if it is of one of the classes. A change of a bundle says
// nothing about the class of its instance.
func (c *Controller) one(ctx context.Context, key Key, watches *observe.Watches, classes []string) error {
	object, err := c.Client.Resource(resourceOf(key.Kind)).Get(ctx, key.Name, metav1.GetOptions{})
	switch {
	case apierrors.IsNotFound(err) && key.Kind == v1alpha1.KindBundle:
		return c.Reconciler.Bundle(ctx, key.Name) // what goes on for it ends
	case apierrors.IsNotFound(err):
		watches.Drop(key.Name)
		return nil
	case err != nil:
		return kube.Fault(err, kube.Call{
			Verb: "get", Resource: resourceOf(key.Kind).GroupResource().String(),
			Name: key.Name,
		})
	case !slices.Contains(classes, classOf(object)):
		if key.Kind == v1alpha1.KindInstance {
			watches.Drop(key.Name)
		}
		return nil
	case key.Kind == v1alpha1.KindBundle:
		return c.Reconciler.Bundle(ctx, key.Name)
	}
	watches.Begin(key.Name)
	set, err := c.Reconciler.Instance(ctx, key.Name)
	watches.End(key.Name, set, reconcile.Failed(err))
	return err
}

func resourceOf(kind string) schema.GroupVersionResource {
	if kind == v1alpha1.KindBundle {
		return v1alpha1.Bundles()
	}
	return v1alpha1.Instances()
}

func classOf(o *unstructured.Unstructured) string {
	class, _, _ := unstructured.NestedString(o.Object, "spec", "provisionerClassName")
	return class
}

// own is the key of an object of one of the classes.
func own(kind string, o *unstructured.Unstructured, classes []string) []Key {
	if !slices.Contains(classes, classOf(o)) {
		return nil
	}
	return []Key{{Kind: kind, Name: o.GetName()}}
}

// owner is the key of the instance that a bundle says it belongs to.
func owner(o *unstructured.Unstructured) []Key {
	labels := o.GetLabels()
	if labels[v1alpha1.LabelOwnerKind] != v1alpha1.KindInstance || labels[v1alpha1.LabelOwnerName] == "" {
		return nil
	}
	return []Key{{Kind: v1alpha1.KindInstance, Name: labels[v1alpha1.LabelOwnerName]}}
}

// thin is what is kept in memory of an object: what says whether it has changed, and
// whose work it is.
func thin(o *unstructured.Unstructured) *unstructured.Unstructured {
	kept := &unstructured.Unstructured{Object: map[string]any{
		"spec": map[string]any{"provisionerClassName": classOf(o)},
	}}
	kept.SetGroupVersionKind(o.GroupVersionKind())
	kept.SetName(o.GetName())
	kept.SetUID(o.GetUID())
	kept.SetResourceVersion(o.GetResourceVersion())
	kept.SetGeneration(o.GetGeneration())
	kept.SetLabels(o.GetLabels())
	kept.SetAnnotations(o.GetAnnotations())
	kept.SetFinalizers(o.GetFinalizers())
	kept.SetDeletionTimestamp(o.GetDeletionTimestamp())
	return kept
}
