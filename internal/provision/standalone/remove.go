package standalone

import (
	"cmp"
	"context"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/apply"
	"github.com/berthdev/berth/internal/lock"
	"github.com/berthdev/berth/internal/provision/deploy"
	"github.com/berthdev/berth/internal/provision/inventory"
	"github.com/berthdev/berth/internal/provision/manifest"
	"github.com/berthdev/berth/internal/rbac"
	"github.com/berthdev/berth/internal/watch/follow"
)

// MayRemove checks the permissions to remove what the record names.
func (t Target) MayRemove(_ context.Context, found inventory.Found, may deploy.Permissions) error {
	named := append(t.named(found), found.Kept...)
	return may.Check("deleting "+t.ID, rbac.Delete, append(named, manifest.Certified(named)...))
}

// Remove deletes objects and records: what there is now, since the lock is held.
// The record is deleted last, so that a run that is cut off finds it again.
func (t Target) Remove(ctx context.Context, turn deploy.Turn, how deploy.Removing) (removal deploy.Removal, err error) {
	found, owned, err := t.survey(ctx, turn.Found)
	if err != nil {
		return removal, err
	}
	removal.Gone = found.Pod == nil
	if how.Wait && !removal.Gone {
		if removal.Follower, err = t.Watch(ctx, found, deploy.Deployment{}); err != nil {
			return removal, err
		}
		removal.Follower.Expect(found.Pod.UID)
	}
	owned.warn(t.Steps)
	removal.Again = how.Command(t.ID, t.Client.Namespace)
	if how.KeepStorage {
		claims, rest, err := deploy.Keep(ctx, t.applier(turn.Lock, apply.DryRunNone), owned.objects,
			cmp.Or(found.UserString(), turn.Found.UserString()))
		if err != nil {
			return removal, err
		}
		owned.kept, owned.objects = append(owned.kept, claims...), rest
	}
	removal.Storage = deploy.Storage(t.ID, owned.kept, true)
	removed, _, err := t.uninstall(ctx, turn.Lock, owned, apply.DryRunNone)
	return removal.Removed(t.ID, removed), err
}

// uninstall deletes a whole workspace: its objects, the Secrets beside them and, last,
// Helm's records. It returns what was deleted, also with an error.
func (t Target) uninstall(ctx context.Context, held *lock.Lock, owned belongings, dry apply.DryRun) (removed,
	beside apply.Changes, err error,
) {
	remove := t.applier(held, dry).Remove
	if removed, err = remove(ctx, owned.objects); err != nil {
		return removed, nil, err
	}
	// cert-manager leaves the Secret of a certificate behind, and creates it again
	// as long as the certificate is there.
	if beside, err = remove(ctx, owned.secrets); err != nil {
		return removed, beside, err
	}
	purged, err := t.Records().Purge(ctx, t.ID, confirmer(held), dry)
	return removed, append(beside, purged...), err
}

// confirmer makes sure that the lock is held still; a dry run has none.
func confirmer(held *lock.Lock) func(context.Context) error {
	if held == nil {
		return func(context.Context) error { return nil }
	}
	return held.Confirm
}

// AwaitGone waits until the pod is gone. What goes wrong with it meanwhile is of
// no interest: its ConfigMaps are gone before it is.
func (t Target) AwaitGone(ctx context.Context, removal deploy.Removal) (deploy.Left, error) {
	err := removal.Follower.Run(ctx, t.Policy, t.Now, func(c follow.Change) (done bool) {
		c.Snapshot.Warnings, c.Warnings, c.Objects = nil, nil, nil
		verdict := c.Snapshot.Verdict()
		c.Changed = c.Changed && (verdict == v1.VerdictTerminating || verdict == v1.VerdictGone)
		t.Steps.Changed(c, deploy.AboutPod(t.Client.Namespace, "", ""))
		return verdict == v1.VerdictGone
	})
	left := deploy.Left{Gone: err == nil}
	if pod := terminating(removal.Follower); err != nil && pod != nil {
		left.What, left.Hint = stillThere(pod, t.Now(), removal.Again)
	}
	return left, err
}
