package instance

import (
	"context"
	"slices"

	helm "helm.sh/helm/v3/pkg/release"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/berthdev/berth/api/bundle/v1alpha1"
	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/apply"
	"github.com/berthdev/berth/internal/apply/hooks"
	"github.com/berthdev/berth/internal/apply/live"
	"github.com/berthdev/berth/internal/english"
	"github.com/berthdev/berth/internal/event"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/kube"
	"github.com/berthdev/berth/internal/lock"
	"github.com/berthdev/berth/internal/release"
)

// Removing says how an instance is to be removed.
type Removing struct {
	// Definitions of kinds are removed as well, and with them every object of these kinds.
	Definitions bool
	// Confirm is asked before definitions are removed, with the number of objects of each.
	Confirm func(objects map[string]int64) error
}

// Uninstall removes what an instance has installed, its release, its bundles, and then
// the instance. What is not its own is left and named.
func (r Reconciler) Uninstall(ctx context.Context, name string, o Removing, steps *event.Steps) (*v1.BundleRemoval, error) {
	k, err := r.Know(ctx, name)
	if err != nil {
		return nil, err
	}
	record, err := r.records().Latest(ctx, name)
	if err != nil {
		return nil, err
	}
	switch {
	case k.Instance == nil && record == nil:
		return nil, fault.New(fault.NotFound, "bundle %s is not installed", name).WithHint("`berth bundle list` shows what is")
	case k.Instance != nil && !IsOurs(k.Instance.Spec.ProvisionerClassName):
		return nil, usable(k.Instance)
	}
	held, err := r.lock(ctx, name, "uninstall")
	if err != nil {
		return nil, err
	}
	defer giveBack(ctx, held)
	ctx, stop := held.Context(ctx)
	defer stop()
	view := live.New(r.Client.Dynamic, v1alpha1.LabelOwnerName+"="+name)
	defer view.Close()
	u := removal{Reconciler: r, name: name, known: k, record: record, held: held, view: view, steps: steps}
	return u.run(ctx, o)
}

// removal is the work of removing an instance, under its lock.
type removal struct {
	Reconciler
	name   string
	known  Known
	record *helm.Release
	held   *lock.Lock
	view   *live.View
	steps  *event.Steps
}

func (u removal) run(ctx context.Context, o Removing) (*v1.BundleRemoval, error) {
	applier := u.Applier(u.name, u.System)
	applier.Live, applier.Fence = u.view, u.held
	remove, keep, err := u.find(ctx, applier, o)
	if err != nil {
		return nil, err
	}
	done := &v1.BundleRemoval{Name: u.name, Kept: keep}
	if err := u.runHooks(ctx, applier, "pre-delete"); err != nil {
		return nil, err
	}
	err = u.steps.Do("uninstall", func() (string, error) {
		var removed apply.Changes
		for _, wave := range namespacesLast(remove) {
			wave, kept, err := u.emptied(ctx, wave)
			if err != nil {
				return "", err
			}
			done.Kept = append(done.Kept, kept...)
			changes, err := applier.Remove(ctx, wave)
			removed = append(removed, changes...)
			if err != nil {
				return "", err
			}
		}
		done.Objects = len(removed)
		return english.Plural(len(removed), "object"), nil
	})
	if err == nil {
		err = u.runHooks(ctx, applier, "post-delete")
	}
	if err != nil {
		return nil, err
	}
	return done, u.forget(ctx)
}

// runHooks runs the hooks that the release was recorded with.
func (u removal) runHooks(ctx context.Context, applier apply.Applier, event string) error {
	if u.record == nil {
		return nil
	}
	var all []hooks.Hook
	for _, h := range u.record.Hooks {
		objects, err := release.Objects(h.Manifest)
		if err != nil {
			return err
		}
		for _, object := range objects {
			all = append(all, hookOf(h, object))
		}
	}
	if len(hooks.At(all, event)) == 0 {
		return nil
	}
	return u.steps.Do(event, func() (string, error) {
		return "", hooks.Run(ctx, applier, all, event, hookTime, func(h hooks.Hook) {
			u.steps.Note("running hook %s", kube.Object(h.Object.GetKind(), h.Object.GetName()))
		})
	})
}

// find reads what the instance has installed. The record only says where to look: each
// object says itself whose it is.
func (u removal) find(ctx context.Context, applier apply.Applier, o Removing) (remove []*unstructured.Unstructured, kept []v1.KeptObject, err error) {
	var named []*unstructured.Unstructured
	if u.record != nil {
		if named, err = release.Objects(u.record.Manifest); err != nil {
			return nil, nil, err
		}
		installed, err := u.installedBy(ctx, u.name, u.record)
		if err != nil {
			return nil, nil, err
		}
		named = append(named, installed...) // the newest revision may have failed in the middle
	}
	definition := &unstructured.Unstructured{}
	definition.SetAPIVersion("apiextensions.k8s.io/v1")
	definition.SetKind("CustomResourceDefinition")
	if err := applier.Watch(ctx, append(named, definition)); err != nil {
		return nil, nil, err
	}
	var mine []*unstructured.Unstructured
	for _, object := range u.view.Objects() {
		if object.GetDeletionTimestamp() != nil {
			continue
		}
		if !applier.Owner.Owns(object) {
			kept = append(kept, keptObject(object, "it belongs to somebody else"))
			continue
		}
		mine = append(mine, object)
	}
	remove, keep := apply.Removable(mine, o.Definitions)
	for _, object := range keep {
		reason := "it is marked to be kept"
		if object.GetKind() == "CustomResourceDefinition" {
			reason = "every object of its kind would go with it; --delete-crds removes it"
		}
		kept = append(kept, keptObject(object, reason))
	}
	return remove, kept, u.confirm(ctx, applier, remove, o)
}

// confirm shows what would go with definitions.
func (u removal) confirm(ctx context.Context, applier apply.Applier, remove []*unstructured.Unstructured, o Removing) error {
	counts, err := applier.CountResources(ctx, remove)
	if err != nil || len(counts) == 0 || o.Confirm == nil {
		return err
	}
	return o.Confirm(counts)
}

// forget removes the release, the bundles and the instance, which is the last that names
// what there was.
func (u removal) forget(ctx context.Context) error {
	if u.record != nil {
		if _, err := u.records().Purge(ctx, u.name, u.held.Confirm, apply.DryRunNone); err != nil {
			return err
		}
	}
	if err := u.held.Confirm(ctx); err != nil {
		return err
	}
	for i := range u.known.Bundles {
		if err := u.objects().DeleteBundle(ctx, &u.known.Bundles[i]); err != nil {
			return err
		}
	}
	if u.known.Instance == nil {
		return nil
	}
	return u.objects().DeleteInstance(ctx, u.known.Instance)
}

func keptObject(object *unstructured.Unstructured, reason string) v1.KeptObject {
	return v1.KeptObject{Object: kube.Object(object.GetKind(), object.GetName()), Namespace: object.GetNamespace(), Reason: reason}
}

// namespacesLast are the objects, and then the namespaces among them: what is in these
// and is not the bundle's is seen once the bundle's own is gone.
func namespacesLast(objects []*unstructured.Unstructured) [][]*unstructured.Unstructured {
	isNamespace := func(o *unstructured.Unstructured) bool { return o.GetKind() == "Namespace" }
	namespaces := slices.DeleteFunc(slices.Clone(objects), func(o *unstructured.Unstructured) bool { return !isNamespace(o) })
	return [][]*unstructured.Unstructured{slices.DeleteFunc(slices.Clone(objects), isNamespace), namespaces}
}
