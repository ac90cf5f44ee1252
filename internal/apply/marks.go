package apply

import (
	"context"
	"encoding/json"
	"maps"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"

	"github.com/berthdev/berth/internal/kube"
)

// Owner is whose objects are: the labels and annotations with which each of them
// is marked, and by which they are recognised.
type Owner struct {
	// Name is the owner in a message: workspace alice-1.
	Name                string
	Labels, Annotations map[string]string
	// Tags are labels that its objects get as well. An object that has lost them is still
	// recognised, and gets them back.
	Tags map[string]string
}

// Owns is true for an object that carries all marks of the owner.
func (o Owner) Owns(object *unstructured.Unstructured) bool {
	return has(object.GetLabels(), o.Labels) && has(object.GetAnnotations(), o.Annotations)
}

func has(all, some map[string]string) bool {
	for key, value := range some {
		if got, ok := all[key]; !ok || got != value {
			return false
		}
	}
	return true
}

// mark is the object with metadata of its own, which carries the marks.
func (o Owner) mark(object *unstructured.Unstructured) *unstructured.Unstructured {
	object = kube.WithOwnMetadata(object)
	if len(o.Labels)+len(o.Tags) > 0 {
		object.SetLabels(labels.Merge(object.GetLabels(), labels.Merge(o.Tags, o.Labels)))
	}
	if len(o.Annotations) > 0 {
		object.SetAnnotations(labels.Merge(object.GetAnnotations(), o.Annotations))
	}
	return object
}

// Fence is the lock that a run works under. A process that was suspended for longer than its lock lasts wakes up in the
// middle of its work, where another one has gone on: what that has written carries its mark, and is left alone.
type Fence interface {
	// Mark is the annotation that says under which lock an object was written last; the value is empty for none.
	Mark() (name, value string)
	// Check returns an error if what carries these annotations was written under a newer lock.
	Check(ctx context.Context, annotations map[string]string) error
	// Confirm returns an error if the lock is lost. It asks the API server only after a pause.
	Confirm(ctx context.Context) error
}

// fenced marks an object.
func (a Applier) fenced(object *unstructured.Unstructured) *unstructured.Unstructured {
	if a.Fence == nil {
		return object
	}
	if name, value := a.Fence.Mark(); value != "" {
		kube.Annotate(object, name, value)
	}
	return object
}

// check makes sure that an object, as it was read, is not a newer run's.
func (a Applier) check(ctx context.Context, current *unstructured.Unstructured) error {
	if a.Fence == nil {
		return nil
	}
	return a.Fence.Check(ctx, current.GetAnnotations())
}

// confirm makes sure, before a write, that the lock is still held.
func (a Applier) confirm(ctx context.Context) error {
	if a.Fence == nil {
		return nil
	}
	return a.Fence.Confirm(ctx)
}

// Mark sets labels and annotations of these very objects, as Find has read them, and changes nothing else in them. It
// is not an error if one is gone, or if its name belongs to another object now. It returns those that are marked; in a
// dry run without the API server, none.
func (a Applier) Mark(ctx context.Context, objects []*unstructured.Unstructured, labels,
	annotations map[string]string,
) ([]*unstructured.Unstructured, error) {
	r, err := a.over(ctx, objects, a.targets)
	if err != nil {
		return nil, err
	}
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

// Orphan takes off what ties these very objects to an object that is about to be deleted: the reference to it, for
// which the cluster would delete them too, and the owner's tags on what is the owner's. What is not tied is not
// written. That one is gone, or that another one has its name now, is not an error.
func (a Applier) Orphan(ctx context.Context, objects []*unstructured.Unstructured, from types.UID) error {
	r, err := a.over(ctx, objects, a.lookUp)
	if err != nil {
		return err
	}
	return sideBySide(ctx, r.items, func(ctx, _ context.Context, it *item) error {
		return r.rewrite(ctx, it, func(current *unstructured.Unstructured) map[string]any {
			return a.untied(current, from)
		})
	})
}

// untied is the metadata of an object without its ties; nil if it has none.
func (a Applier) untied(current *unstructured.Unstructured, from types.UID) map[string]any {
	metadata := map[string]any{}
	is := func(ref metav1.OwnerReference) bool { return ref.UID == from }
	if refs := current.GetOwnerReferences(); from != "" && slices.ContainsFunc(refs, is) {
		metadata["ownerReferences"] = slices.DeleteFunc(refs, is)
	}
	if tags := a.Owner.Tags; a.Owner.Owns(current) && len(tags) > 0 && has(current.GetLabels(), tags) {
		labels := map[string]any{}
		for name := range tags {
			labels[name] = nil
		}
		metadata["labels"] = labels
	}
	if len(metadata) == 0 {
		return nil
	}
	return metadata
}

// markClaim marks a claim that exists, of which nothing else is changed: a run that has lost its lock must not delete
// it any more. One that was kept belongs to a workspace again, and one that was orphaned gets the owner's tags back, by
// which it is found. Without the permission to mark it, a claim is used as it is, unless it was kept or orphaned.
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

// rewrite changes the metadata of an object to what change makes of it as it is; nothing if that is nil.
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
	return it.changing()
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
