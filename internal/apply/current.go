package apply

import (
	"context"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/berthdev/berth/internal/apply/fields"
	"github.com/berthdev/berth/internal/apply/live"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/kube"
)

// mostNamespaces is in how many namespaces a kind is watched one by one. Beyond it one
// watch of all of them is less.
const mostNamespaces = 4

// scopes are what has to be watched to know everything about some targets.
func scopes(targets []target) (all []live.Scope) {
	var kinds []kube.Resource
	namespaces := map[kube.Resource][]string{}
	seen := map[live.Scope]bool{}
	for _, t := range targets {
		scope := live.Scope{Resource: t.Resource, Namespace: t.namespace}
		if !t.known() || seen[scope] {
			continue
		}
		seen[scope] = true
		if namespaces[t.Resource] == nil {
			kinds = append(kinds, t.Resource)
		}
		namespaces[t.Resource] = append(namespaces[t.Resource], t.namespace)
	}
	for _, kind := range kinds {
		some := namespaces[kind]
		if len(some) > mostNamespaces {
			some = []string{""}
		}
		for _, namespace := range some {
			all = append(all, live.Scope{Resource: kind, Namespace: namespace})
		}
	}
	return all
}

// Watch lets the view of the applier know everything about these objects, and about
// others of their kinds.
func (a Applier) Watch(ctx context.Context, objects []*unstructured.Unstructured) error {
	targets, err := a.lookUp(ctx, objects)
	if err != nil {
		return err
	}
	return a.Live.Watch(ctx, scopes(targets)...)
}

// look reads what the cluster has of the set, and refuses what cannot be applied before
// anything is: all problems together.
func (r *run) look(ctx context.Context) error {
	if r.Live == nil || r.First {
		return nil
	}
	targets := make([]target, len(r.items))
	for i, it := range r.items {
		targets[i] = it.target
	}
	if err := r.Live.Watch(ctx, scopes(targets)...); err != nil {
		return err
	}
	return r.checkAll(ctx)
}

// seen is an object as the view has it; nil if it has none.
func (r *run) seen(it *item) *unstructured.Unstructured {
	if r.Live == nil || r.First {
		return nil
	}
	current, _ := r.Live.Get(it.Resource, it.namespace, it.name)
	return current
}

// known brings an object up to date that the view has. It is not done if there is none,
// or if it is not as the view has it any more.
func (r *run) known(ctx context.Context, it *item) (done bool, err error) {
	current := r.seen(it)
	if current == nil {
		return false, nil
	}
	if r.compare(current, it) == fields.Same {
		it.change = &Change{Action: Unchanged, Object: current, Before: current}
		return true, r.check(ctx, current)
	}
	if err := r.confirm(ctx); err != nil {
		return true, err
	}
	if preview, is := it.api.(*readOnly); is {
		preview.current = current
	}
	return r.bring(ctx, it, current)
}

// compare compares an object with what is wanted of it. One that is not the owner's, or
// that is being deleted, differs.
func (r *run) compare(current *unstructured.Unstructured, it *item) fields.Verdict {
	if !r.Owner.Owns(current) || current.GetDeletionTimestamp() != nil {
		return fields.Differs
	}
	return fields.Compare(current, fields.Yield(current, it.object, kube.FieldManager), kube.FieldManager)
}

// checkAll finds what would keep objects from being applied: versions of a custom
// resource definition that would be lost, and fields that other managers have set.
func (r *run) checkAll(ctx context.Context) error {
	var doubtful []*item
	problems := make([][]string, len(r.items))
	at := map[*item]int{}
	for i, it := range r.items {
		at[it] = i
		current := r.seen(it)
		if current == nil || r.compare(current, it) != fields.Differs {
			continue
		}
		if lost := lostVersions(current, it.Object); lost != "" {
			problems[i] = append(problems[i], it.describe()+": "+lost)
		}
		wanted := fields.Yield(current, it.object, kube.FieldManager)
		if !r.Force && r.DryRun == DryRunNone && it.Merge == nil && r.Owner.Owns(current) &&
			fields.IsContested(current, wanted, kube.FieldManager) {
			doubtful = append(doubtful, it)
		}
	}
	err := sideBySide(ctx, doubtful, func(ctx, _ context.Context, it *item) (err error) {
		problems[at[it]], err = r.detectConflicts(ctx, it)
		return err
	})
	if err != nil {
		return err
	}
	var all []string
	for _, some := range problems {
		all = append(all, some...)
	}
	return refusedBefore(all)
}

// ReasonNothingWritten is the reason of an error that was found before anything was
// written.
const ReasonNothingWritten = "NOTHING_WRITTEN"

// refusedBefore is the error of what cannot be applied.
func refusedBefore(problems []string) error {
	if len(problems) == 0 {
		return nil
	}
	err := fault.New(fault.Conflict, "%s", problems[0])
	if len(problems) > 1 {
		err = fault.New(fault.Conflict, "%d changes conflict with what is on the cluster", len(problems))
		err.Problems = problems
	}
	return err.WithReason(ReasonNothingWritten).
		WithHint("undo the changes that are named, then try again; nothing has been written")
}
