package apply

import (
	"context"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
)

// Orphan takes off what ties these very objects to an object that is about to be deleted:
// the reference to it, for which the cluster would delete them too, and the owner's tags
// on what is the owner's. What is not tied is not written. That one is gone, or that
// another one has its name now, is not an error.
func (a Applier) Orphan(ctx context.Context, objects []*unstructured.Unstructured, from types.UID) error {
	targets, err := a.lookUp(ctx, objects)
	if err != nil {
		return err
	}
	r := &run{Applier: a}
	for i, object := range objects {
		if targets[i].known() { // otherwise it went with its kind
			r.items = append(r.items, &item{Wanted: Wanted{Object: object}, target: targets[i]})
		}
	}
	r.prepare(r.items)
	return sideBySide(ctx, r.items, func(ctx, _ context.Context, it *item) error {
		return r.rewrite(ctx, it, func(current *unstructured.Unstructured) map[string]any { return a.untied(current, from) })
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
