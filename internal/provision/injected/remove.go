package injected

import (
	"context"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/berthdev/berth/internal/apply"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/kube"
	"github.com/berthdev/berth/internal/lock"
	"github.com/berthdev/berth/internal/provision/deploy"
	"github.com/berthdev/berth/internal/provision/injection"
	"github.com/berthdev/berth/internal/provision/inventory"
	"github.com/berthdev/berth/internal/provision/workload"
	"github.com/berthdev/berth/internal/rbac"
	"github.com/berthdev/berth/internal/userstring"
)

// MayRemove checks the permissions to take the workspace out of its workload.
func (t Target) MayRemove(ctx context.Context, _ inventory.Found, may deploy.Permissions) error {
	objects, err := workload.Objects(ctx, t.Client, t.ID)
	if err != nil && fault.CodeOf(err) != fault.PermissionDenied {
		return err
	}
	return may.Check("deleting "+t.ID, rbac.Inject, objects, t.resources()...)
}

// Remove patches the workload and then deletes the objects, so that no new pod waits
// for a ConfigMap that is gone. A running pod keeps what it has mounted.
func (t Target) Remove(ctx context.Context, turn deploy.Turn, how deploy.Removing) (removal deploy.Removal, err error) {
	w, err := workload.Read(ctx, t.Client, t.ID, t.Ref)
	if err != nil {
		return removal, err
	}
	removal.Found.Workload = w
	if how.Wait {
		if removal.Follower, err = t.Watch(ctx, removal.Found, deploy.Deployment{}); err != nil {
			return removal, err
		}
	}
	taking := takingOut{change: t.eject}
	if how.KeepStorage {
		taking.keeps = deploy.IsClaim
		if err := t.keep(ctx, turn); err != nil {
			return removal, err
		}
	}
	kept, err := t.kept(ctx, turn.Found)
	if err != nil {
		return removal, err
	}
	removal.Storage = deploy.Storage(t.ID, kept, true)
	out, err := t.takeOut(ctx, turn.Lock, w, taking)
	removal.Done = t.Ref.String()
	removal = removal.Removed(t.ID, out.removed)
	if err != nil {
		return removal, err
	}
	removal.Found.Workload = out.workload
	if how.Wait {
		err = begin(removal.Follower, out.workload)
	}
	return removal, err
}

// keep marks the claims of the workspace, before anything else is done.
func (t Target) keep(ctx context.Context, turn deploy.Turn) error {
	objects, err := workload.Objects(ctx, t.Client, t.ID)
	if err != nil {
		return err
	}
	_, _, err = deploy.Keep(ctx, t.applier(turn.Lock, apply.DryRunNone), objects, turn.Found.UserString())
	return err
}

// kept are the claims that stay, also those that were kept before.
func (t Target) kept(ctx context.Context, found inventory.Found) ([]*unstructured.Unstructured, error) {
	user, _ := userstring.ParseCanonical(found.UserString()) // of nobody, if it is not known
	kept, err := t.Kept(ctx, t.ID)
	if fault.CodeOf(err) == fault.PermissionDenied {
		return nil, nil // they stay, unnamed
	}
	return slices.DeleteFunc(kept,
		func(claim *unstructured.Unstructured) bool { return inventory.IsKeptForAnother(claim, user) }), err
}

// eject computes the patch that takes the workspace out of its workload.
func (t Target) eject(object map[string]any) (injection.Change, error) {
	return injection.Eject(object, t.ID)
}

// takingOut is how a workspace is taken out.
type takingOut struct {
	change
	keeps func(*unstructured.Unstructured) bool // nil for nothing
	dry   apply.DryRun
}

// ejected is what has become of it.
type ejected struct {
	workload         *workload.Workload // the newest version
	patched, removed apply.Changes
}

// takeOut applies the change that takes the workspace out of its workload, and deletes
// the objects that are left of it. It returns what was done, also with an error.
func (t Target) takeOut(ctx context.Context, held *lock.Lock, w *workload.Workload, how takingOut) (out ejected,
	err error,
) {
	out.workload = w
	if w.Object != nil {
		if out.workload, out.patched, err = t.patch(ctx, held, w, how.change, how.dry); err != nil {
			return out, err
		}
		if how.dry == apply.DryRunNone {
			if err := t.deleteStuckPods(ctx, out.workload, ""); err != nil {
				return out, err
			}
		}
	}
	objects, err := workload.Objects(ctx, t.Client, t.ID)
	if err != nil {
		return out, err
	}
	if how.keeps != nil {
		objects = slices.DeleteFunc(objects, how.keeps)
	}
	if len(out.patched) > 0 || len(objects) == 0 || out.workload.Object == nil || out.workload.Record != nil ||
		how.dry != apply.DryRunNone {
		out.removed, err = t.applier(held, how.dry).Remove(ctx, objects)
		return out, err
	}
	return t.removeMarked(ctx, held, out, objects)
}

// removeMarked deletes what is left of a workspace that is not in its workload. The run
// that made it may be about to patch the workload, so that is marked until it is deleted;
// unless the cluster refuses to have it patched, which then keeps every run from it.
func (t Target) removeMarked(ctx context.Context, held *lock.Lock, out ejected,
	objects []*unstructured.Unstructured,
) (ejected, error) {
	_, mark := held.Mark()
	marked, _, err := t.patch(ctx, held, out.workload, func(object map[string]any) (injection.Change, error) {
		return injection.Mark(object, mark)
	}, apply.DryRunNone)
	refused := kube.Declined(err)
	if err != nil && !refused {
		return out, err
	}
	if out.removed, err = t.applier(held, apply.DryRunNone).Remove(ctx, objects); err != nil || refused {
		return out, err
	}
	out.workload, _, err = t.patch(ctx, held, marked, t.eject, apply.DryRunNone)
	return out, err
}

// MayStop checks the permissions to take the workspace out of its workload.
func (t Target) MayStop(may deploy.Permissions) error {
	return may.Check("stopping "+t.ID, rbac.Inject, nil, t.resources()...)
}

// Stop takes the workspace out of its workload. What its volumes are made of stays.
func (t Target) Stop(ctx context.Context, turn deploy.Turn, wait bool) (removal deploy.Removal, err error) {
	w, err := workload.Read(ctx, t.Client, t.ID, t.Ref)
	if err != nil {
		return removal, err
	}
	removal.Found.Workload, removal.Again = w, kube.Command("stop", t.ID, t.Client.Namespace)
	if !w.Injected() && len(turn.Found.Leaving) == 0 {
		removal.Gone, removal.Done = true, "it is not in "+t.Ref.String()
		return removal, nil
	}
	if wait {
		if removal.Follower, err = t.Watch(ctx, removal.Found, deploy.Deployment{}); err != nil {
			return removal, err
		}
	}
	all := func(*unstructured.Unstructured) bool { return true }
	out, err := t.takeOut(ctx, turn.Lock, w, takingOut{change: t.eject, keeps: all})
	removal.Done = t.Ref.String()
	if err != nil {
		return removal, err
	}
	removal.Found.Workload = out.workload
	if wait {
		err = begin(removal.Follower, out.workload)
	}
	return removal, err
}
