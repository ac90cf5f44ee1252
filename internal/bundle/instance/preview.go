package instance

import (
	"cmp"
	"context"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/berthdev/berth/api/bundle/v1alpha1"
	"github.com/berthdev/berth/internal/apply"
	"github.com/berthdev/berth/internal/apply/hooks"
	"github.com/berthdev/berth/internal/apply/live"
)

// Preview is what a request would change in the objects of its bundle. Nothing is written;
// in a dry run by the API server, it checks what would be.
func (r Reconciler) Preview(ctx context.Context, q Request, k Known, dry apply.DryRun) (apply.Changes, error) {
	in := &v1alpha1.Instance{}
	if k.Instance != nil {
		if err := usable(k.Instance); err != nil {
			return nil, err
		}
		in = k.Instance
	}
	r, err := r.As(q.ServiceAccount)
	if err != nil {
		return nil, err
	}
	h, err := r.history(ctx, q.Name, k.Release)
	if err != nil {
		return nil, err
	}
	applier := r.Applier(q.Name, cmp.Or(q.Package.Namespace, r.namespaceOf(q.Config)))
	applier.DryRun, applier.Live = dry, live.New(r.Installs.Dynamic, v1alpha1.LabelOwnerName+"="+q.Name)
	defer applier.Live.Close()
	objects, err := placed(ctx, applier, in, q.Package)
	if err != nil {
		return nil, err
	}
	if err := applier.Watch(ctx, slices.Concat(objects, h.installed)); err != nil {
		return nil, err
	}
	if err := watchAttempted(ctx, applier, h.attempted); err != nil {
		return nil, err
	}
	changes, err := applier.Apply(ctx, apply.Objects(objects))
	if err != nil {
		return nil, inBundle(err)
	}
	removed, err := applier.Remove(ctx, leftovers(applier, objects))
	return append(changes.With(apply.Created, apply.Updated), removed...), err
}

// leftovers are what the instance has installed and its bundle does not have any more,
// but for definitions, what is marked to be kept, and what hooks have made.
func leftovers(applier apply.Applier, objects []*unstructured.Unstructured) []*unstructured.Unstructured {
	var mine []*unstructured.Unstructured
	for _, object := range applier.Live.Objects() {
		if applier.Owner.Owns(object) && object.GetDeletionTimestamp() == nil {
			mine = append(mine, object)
		}
	}
	remove, _ := apply.Leftovers(mine, objects, applier.Namespace)
	return slices.DeleteFunc(remove, hooks.IsHook)
}
