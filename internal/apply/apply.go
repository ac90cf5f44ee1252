// Package apply brings objects of any kind to the cluster, and removes them again. What does not exist is created by
// POST, so that an object of another owner is never adopted; what exists is read, checked for its owner, and updated by
// server-side apply.
package apply

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"sync"

	"golang.org/x/sync/errgroup"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/dynamic"

	"github.com/berthdev/berth/internal/apply/fields"
	"github.com/berthdev/berth/internal/apply/live"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/kube"
)

// parallel is how many objects of a wave are worked on at a time.
const parallel = 16

// Applier applies and removes the objects of one owner.
type Applier struct {
	Client dynamic.Interface
	// Discovery is asked for kinds that berth does not know, once a run for each group and version.
	Discovery discovery.ServerResourcesInterface
	// Namespace is that of the objects which name none.
	Namespace string
	Owner     Owner
	// Shared leaves an object that exists as it is, with any owner, except for
	// what Merge makes of an object of the owner.
	Shared bool
	// Force takes over fields that another field manager has set. Without it they are a conflict.
	Force bool
	// Accept returns an error for an object that exists and must not be used, though it
	// is the owner's; nil accepts all of them.
	Accept func(*unstructured.Unstructured) error
	// Recreates says whether a claim or a Service that exists is made again, instead of being used as it is: a claim
	// cannot be changed, and of a Service not the address. Nil keeps all of them.
	Recreates func(ctx context.Context, have, wanted *unstructured.Unstructured) bool
	// Report is told of each object as it is done, one after the other; it may be nil.
	Report func(Change)
	// Kept says that the objects are expected to be there, with the very fields that are wanted: each is read before it
	// is created, and is not searched for fields that are not wanted any more.
	Kept bool
	// Fence is the lock under which all of this is done; nil for none.
	Fence Fence
	// DryRun keeps everything from being written. What is refused then keeps nothing else from being tried: the error
	// has all of it.
	DryRun DryRun
	// StrictFields has the API server refuse fields that it does not know in a dry run: it drops them when it creates
	// an object, and refuses them when that is applied again.
	StrictFields bool
	// Live is what the cluster has of the owner's objects. With it, only what differs is
	// sent, conflicts with other field managers are found before anything is written, and
	// what others have changed since it was applied is put right; nil reads each object.
	Live *live.View
	// First is the first installation of a set: with a view, nothing is read before it. To
	// watch what is being created takes the API server as much time as to create it.
	First bool
}

// Wanted is an object that is to be there.
type Wanted struct {
	Object *unstructured.Unstructured
	// Parent is another object of the same set, of the same or an earlier wave and without a parent. It is made before
	// this one and becomes its owner, so that the cluster deletes this one with it.
	Parent *unstructured.Unstructured
	// Merge computes what is applied to an object that exists, instead of Object; nil if nothing is to change.
	Merge func(current, wanted *unstructured.Unstructured) (*unstructured.Unstructured, error)
}

// Objects are wanted as they are.
func Objects(objects []*unstructured.Unstructured) []Wanted {
	wanted := make([]Wanted, len(objects))
	for i, object := range objects {
		wanted[i].Object = object
	}
	return wanted
}

// Unwrap are the objects that are wanted.
func Unwrap(wanted []Wanted) []*unstructured.Unstructured {
	objects := make([]*unstructured.Unstructured, len(wanted))
	for i, w := range wanted {
		objects[i] = w.Object
	}
	return objects
}

// Apply creates the objects or brings them up to date, in waves: custom resource definitions and namespaces; everything
// else side by side; what runs pods, so that no pod waits for its ConfigMap; webhooks; custom resources whose
// definitions are in the set, once these are established. It returns what was done, in the order of the objects and
// also with an error.
func (a Applier) Apply(ctx context.Context, wanted []Wanted) (Changes, error) {
	r, err := a.begin(ctx, wanted)
	if err != nil {
		return nil, err
	}
	waves := r.waves(r.waveOf)
	if err := checkParents(waves); err != nil {
		return nil, err
	}
	if err := r.look(ctx); err != nil {
		return nil, err
	}
	for _, wave := range waves {
		r.prepare(wave)
		if err = r.established(ctx, wave); err != nil {
			break
		}
		if err = r.guarded(ctx, wave); err != nil {
			break
		}
		if err = sideBySide(ctx, wave, r.applyAndReport); err != nil {
			break
		}
	}
	if err == nil {
		err = r.afterWebhooks(ctx)
	}
	if err == nil {
		err = r.allRefused()
	}
	return r.changes(), err
}

// allRefused is the error of all that was refused in a dry run.
func (r *run) allRefused() error {
	switch len(r.refused) {
	case 0:
		return nil
	case 1:
		return r.refused[0]
	}
	slices.SortFunc(r.refused, func(a, b error) int { return strings.Compare(a.Error(), b.Error()) })
	first := fault.From(r.refused[0])
	all := fault.New(first.Code, "%d objects are refused, the first: %w", len(r.refused), first).
		WithReason(first.Reason).WithHint("%s", first.Hint)
	for _, err := range r.refused {
		all.Problems = append(all.Problems, err.Error())
	}
	return all
}

// run is one call of Apply or Remove.
type run struct {
	Applier
	items    []*item
	defined  map[schema.GroupVersionKind]kube.Resource // by definitions of the set
	webhooks webhooks                                  // of the set

	reporting sync.Mutex
	refused   []error // in a dry run
}

// item is one object of a run.
type item struct {
	Wanted
	object *unstructured.Unstructured // as it is sent
	target
	api       dynamic.ResourceInterface
	change    *Change                    // nil while nothing is known
	inPlaceOf *unstructured.Unstructured // was deleted to create it again
	drifted   bool                       // others have changed what was applied
	notServed error                      // the answer where its kind was not known yet
	deferred  error                      // why it was refused, by a webhook of the set
	unasked   string                     // why no dry run asks the API server about it
}

func (a Applier) begin(ctx context.Context, wanted []Wanted) (*run, error) {
	objects := Unwrap(wanted)
	targets, err := a.targets(ctx, objects)
	if err != nil {
		return nil, err
	}
	r := &run{Applier: a, items: make([]*item, len(wanted)), defined: defined(objects), webhooks: webhooksOf(objects)}
	for i, w := range wanted {
		object := a.Owner.mark(w.Object)
		object.SetNamespace(targets[i].namespace)
		if a.Live != nil {
			fields.Stamp(object)
		}
		r.items[i] = &item{Wanted: w, target: targets[i], object: a.fenced(object)}
	}
	return r, nil
}

// over is a run over objects that exist. The function places finds the API of each; objects of kinds that the cluster
// does not have are left out.
func (a Applier) over(ctx context.Context, objects []*unstructured.Unstructured,
	places func(context.Context, []*unstructured.Unstructured) ([]target, error),
) (*run, error) {
	targets, err := places(ctx, objects)
	if err != nil {
		return nil, err
	}
	r := &run{Applier: a}
	for i, object := range objects {
		if targets[i].known() { // an object without a kind does not exist
			r.items = append(r.items, &item{Wanted: Wanted{Object: object}, target: targets[i]})
		}
	}
	r.prepare(r.items)
	return r, nil
}

// prepare completes the items of a wave by what the waves before it have made.
func (r *run) prepare(wave []*item) {
	for _, it := range wave {
		it.unasked = r.whyUnasked(it)
		it.api = r.client(it)
		if it.Parent == nil {
			continue
		}
		if parent, ok := r.changes().Of(it.Parent, r.Namespace); ok && parent.Object.GetUID() != "" {
			by := parent.Object
			it.object.SetOwnerReferences(append(it.object.GetOwnerReferences(), metav1.OwnerReference{
				APIVersion: by.GetAPIVersion(), Kind: by.GetKind(), Name: by.GetName(), UID: by.GetUID(),
			}))
		}
	}
}

func (r *run) changes() (changes Changes) {
	for _, it := range r.items {
		if it.change != nil {
			changes = append(changes, *it.change)
			changes[len(changes)-1].Unasked = it.unasked
		}
	}
	return changes
}

// applyAndReport applies one object, and tells what was done with it.
func (r *run) applyAndReport(ctx, waiting context.Context, it *item) error {
	err := r.apply(ctx, waiting, it)
	if err != nil && r.DryRun != DryRunNone && ctx.Err() == nil && fault.CodeOf(err) != fault.Unavailable {
		r.reporting.Lock()
		defer r.reporting.Unlock()
		r.refused = append(r.refused, err)
		return nil
	}
	if r.Report == nil || err != nil || it.change == nil || it.deferred != nil {
		return err
	}
	r.reporting.Lock()
	defer r.reporting.Unlock()
	r.Report(*it.change)
	return nil
}

// sideBySide works on a wave. After the first error nothing new is begun, but what is under way comes to its end, so
// that it is known what was done. The second context of work ends with the first error: for waiting.
func sideBySide(ctx context.Context, wave []*item, work func(ctx, waiting context.Context, it *item) error) error {
	group, waiting := errgroup.WithContext(ctx)
	group.SetLimit(parallel)
	for _, it := range wave {
		group.Go(func() error {
			if waiting.Err() != nil {
				return waiting.Err()
			}
			return work(ctx, waiting, it)
		})
	}
	return group.Wait()
}

// Action is what was done with an object, or would be in a dry run.
type Action string

// The actions. Unchanged is also an object that was there before and could not be brought up to date.
const (
	Created   Action = "create"
	Updated   Action = "update"
	Deleted   Action = "delete"
	Unchanged Action = "unchanged"
)

// Change is what became of one object.
type Change struct {
	Action Action
	// Object is the object as the cluster has it; of one that was deleted, as it was.
	Object *unstructured.Unstructured
	// Before is the object as it was, if it was there and has been read.
	Before *unstructured.Unstructured
	// InPlaceOf is an object of the same name that was deleted to create this one.
	InPlaceOf *unstructured.Unstructured
	// Unasked is why the API server was not asked about it in its dry run; empty if it was.
	Unasked string
}

// Changes are what became of a set of objects, in the order of the set. An object
// whose state is not known, because an answer was lost, is not among them.
type Changes []Change

// Of is what became of an object, if that is known. The namespace is that of the object if it names none.
func (c Changes) Of(object *unstructured.Unstructured, namespace string) (Change, bool) {
	for _, change := range c {
		if object != nil && same(change.Object, object, namespace) {
			return change, true
		}
	}
	return Change{}, false
}

// Objects are the objects that were changed, as the cluster has them.
func (c Changes) Objects() []*unstructured.Unstructured {
	objects := make([]*unstructured.Unstructured, len(c))
	for i, change := range c {
		objects[i] = change.Object
	}
	return objects
}

// With are the changes with one of these actions.
func (c Changes) With(actions ...Action) (some Changes) {
	for _, change := range c {
		for _, action := range actions {
			if change.Action == action {
				some = append(some, change)
			}
		}
	}
	return some
}

// same is true for two descriptions of one object. The namespace is that of the one which names none.
func same(a, b *unstructured.Unstructured, namespace string) bool {
	return a.GetName() == b.GetName() && a.GroupVersionKind().GroupKind() == b.GroupVersionKind().GroupKind() &&
		cmp.Or(a.GetNamespace(), namespace) == cmp.Or(b.GetNamespace(), namespace)
}
