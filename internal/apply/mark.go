package apply

import (
	"context"
	"encoding/json"
	"maps"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/kube"
)

// Mark sets labels and annotations of these very objects, as Find has read them, and
// changes nothing else in them. That one is gone, or that another one has its name by
// now, is not an error. It returns those that are marked; in a dry run without the API
// server, none.
func (a Applier) Mark(ctx context.Context, objects []*unstructured.Unstructured, labels,
	annotations map[string]string,
) ([]*unstructured.Unstructured, error) {
	targets, err := a.targets(ctx, objects)
	if err != nil {
		return nil, err
	}
	r := &run{Applier: a}
	for i, object := range objects {
		r.items = append(r.items, &item{Wanted: Wanted{Object: object}, target: targets[i]})
	}
	r.prepare(r.items)
	err = sideBySide(ctx, r.items, func(ctx, _ context.Context, it *item) error {
		return r.rewrite(ctx, it, func(*unstructured.Unstructured) map[string]any {
			return map[string]any{"labels": values(labels), "annotations": values(annotations)}
		})
	})
	var marked []*unstructured.Unstructured
	for _, it := range r.items {
		if it.object != nil {
			marked = append(marked, it.object)
		}
	}
	return marked, err
}

// rewrite changes the metadata of an object to what change makes of it as it is; nothing if
// that is nil.
func (r *run) rewrite(ctx context.Context, it *item,
	change func(current *unstructured.Unstructured) map[string]any,
) (err error) {
	current := it.Object
	for range deleteTries {
		if err := r.check(ctx, current); err != nil {
			return err
		}
		if err := r.confirm(ctx); err != nil {
			return err
		}
		metadata := change(current)
		if metadata == nil {
			return nil
		}
		it.object, err = r.patchMetadata(ctx, it, current, metadata)
		if !isStale(err) {
			return kube.Fault(err, it.call("patch"))
		}
		if current, err = it.newer(ctx, current); current == nil {
			return err
		}
	}
	return fault.New(fault.Conflict, "%s is being changed by another client", it.describe()).WithHint("try again")
}

// markClaim marks a claim that exists, of which nothing else is changed: a run that
// has lost its lock must not delete it any more. One that was kept belongs to a
// workspace again, and one that was orphaned gets the owner's tags back, by which it is
// found. Without the permission to mark it, a claim is used as it is, unless it was kept
// or orphaned.
func (r *run) markClaim(ctx context.Context, it *item) (done bool, err error) {
	current := it.change.Before
	if r.Fence == nil || r.DryRun != DryRunNone || !isKind(current, kindClaim) {
		return true, nil
	}
	labels := map[string]any{}
	if _, kept := current.GetLabels()[kube.LabelKept]; kept {
		labels[kube.LabelKept] = nil
	}
	if !has(current.GetLabels(), r.Owner.Tags) {
		maps.Copy(labels, values(r.Owner.Tags))
	}
	if _, mark := r.Fence.Mark(); mark == "" && len(labels) == 0 {
		return true, nil
	}
	made, err := r.patchMetadata(ctx, it, current, map[string]any{"labels": labels})
	switch {
	case isStale(err):
		return false, nil
	case apierrors.IsForbidden(err) && len(labels) == 0:
		return true, nil
	case err != nil:
		return true, kube.Fault(err, it.call("patch"))
	}
	it.change.Object = made
	return true, nil
}

// patchMetadata changes metadata, such as labels, of the very version that was read, and
// marks it as written under the lock. A value of nil takes a label or an annotation away.
func (r *run) patchMetadata(ctx context.Context, it *item, current *unstructured.Unstructured,
	metadata map[string]any,
) (*unstructured.Unstructured, error) {
	metadata = maps.Clone(metadata)
	metadata["resourceVersion"], metadata["uid"] = current.GetResourceVersion(), current.GetUID()
	if r.Fence != nil {
		if name, value := r.Fence.Mark(); value != "" {
			annotations, _ := metadata["annotations"].(map[string]any)
			annotations = maps.Clone(annotations)
			if annotations == nil {
				annotations = map[string]any{}
			}
			annotations[name] = value
			metadata["annotations"] = annotations
		}
	}
	patch, err := json.Marshal(map[string]any{"metadata": metadata})
	if err != nil {
		return nil, err
	}
	return it.api.Patch(ctx, it.name, types.MergePatchType, patch,
		metav1.PatchOptions{FieldManager: kube.FieldManager, DryRun: r.DryRun.Options()})
}

func values(texts map[string]string) map[string]any {
	all := map[string]any{}
	for name, text := range texts {
		all[name] = text
	}
	return all
}
