package standalone

import (
	"context"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/apply"
	"github.com/berthdev/berth/internal/english"
	"github.com/berthdev/berth/internal/kube"
	"github.com/berthdev/berth/internal/provision/deploy"
	"github.com/berthdev/berth/internal/provision/inventory"
	"github.com/berthdev/berth/internal/provision/manifest"
	"github.com/berthdev/berth/internal/rbac"
	"github.com/berthdev/berth/internal/release"
	"github.com/berthdev/berth/internal/watch/follow"
)

// MayRemove checks the permissions to remove what the record names.
func (t Target) MayRemove(ctx context.Context, found inventory.Found, may deploy.Permissions) error {
	objects, err := t.objects(ctx, found)
	if err != nil {
		return err
	}
	return may.Check("deleting "+t.ID, rbac.Delete, objects)
}

// Remove deletes objects and records: what there is now, since the lock is held.
// The record is deleted last, so that a run that is cut off finds it again.
func (t Target) Remove(ctx context.Context, wait bool) (removal deploy.Removal, err error) {
	found, err := t.LookupStatus(ctx, t.ID)
	if err != nil {
		return removal, err
	}
	removal.Gone = found.Pod == nil
	if wait && !removal.Gone {
		if removal.Follower, err = t.Watch(ctx, found, deploy.Deployment{}); err != nil {
			return removal, err
		}
		removal.Follower.Expect(found.Pod.UID)
	}
	removed, _, err := t.removeAll(ctx, found, apply.DryRunNone)
	removal.Objects, removal.Done = len(removed), english.Plural(len(removed), "object")
	return removal, err
}

// uninstall deletes objects and, if they are the whole workspace, the Secrets beside
// them: those of certificates and, last, Helm's records. It returns what was deleted,
// also with an error.
func (t Target) uninstall(ctx context.Context, objects []*unstructured.Unstructured, whole bool, dry apply.DryRun) (removed, beside apply.Changes, err error) {
	remove := t.applier(dry).Remove
	if removed, err = remove(ctx, objects); err != nil || !whole {
		return removed, nil, err
	}
	// cert-manager leaves the Secret of a certificate behind, and creates it again
	// as long as the certificate is there.
	secrets := manifest.Certified(objects)
	if dry != apply.DryRunNone {
		secrets = append(secrets, kube.Named("Secret", manifest.GitSecret(t.ID))) // deleted with its ConfigMap
	}
	if beside, err = remove(ctx, secrets); err != nil {
		return removed, beside, err
	}
	purged, err := t.Records().Purge(ctx, t.ID, dry)
	return removed, append(beside, purged...), err
}

// AwaitGone waits until the pod is gone. What goes wrong with it meanwhile is of
// no interest: its ConfigMaps are gone before it is.
func (t Target) AwaitGone(ctx context.Context, removal deploy.Removal) (gone bool, err error) {
	err = removal.Follower.Run(ctx, t.Policy, t.Now, func(c follow.Change) (done bool) {
		c.Snapshot.Warnings, c.Warnings, c.Objects = nil, nil, nil
		verdict := c.Snapshot.Verdict()
		c.Changed = c.Changed && (verdict == v1.VerdictTerminating || verdict == v1.VerdictGone)
		t.Steps.Changed(c, deploy.AboutPod(t.Client.Namespace))
		return verdict == v1.VerdictGone
	})
	return err == nil, err
}

// removeAll deletes the workspace as it was found.
func (t Target) removeAll(ctx context.Context, found inventory.Found, dry apply.DryRun) (removed, beside apply.Changes, err error) {
	if found.Unreadable != nil {
		return t.removeUnreadable(ctx, found, dry)
	}
	objects, err := t.objects(ctx, found)
	if err != nil {
		return nil, nil, err
	}
	return t.uninstall(ctx, objects, true, dry)
}

// objects are those of the record. Without one they are what a workspace of that
// ID can have: its names follow from the ID.
func (t Target) objects(ctx context.Context, found inventory.Found) ([]*unstructured.Unstructured, error) {
	switch {
	case found.Unreadable != nil:
		objects, _, err := t.labelled(ctx, found)
		return objects, err
	case found.Record != nil:
		return release.Objects(found.Record.Manifest)
	case found.Pod == nil:
		return nil, nil // it has been removed meanwhile
	}
	return manifest.OfPod(found.Pod), nil
}
