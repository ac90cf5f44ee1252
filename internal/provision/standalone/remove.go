package standalone

import (
	"context"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/apply"
	"github.com/berthdev/berth/internal/english"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/provision/deploy"
	"github.com/berthdev/berth/internal/provision/inventory"
	"github.com/berthdev/berth/internal/provision/manifest"
	"github.com/berthdev/berth/internal/rbac"
	"github.com/berthdev/berth/internal/release"
	"github.com/berthdev/berth/internal/watch/follow"
)

// MayRemove checks the permissions to remove what the record names.
func (t Target) MayRemove(_ context.Context, found inventory.Found, may deploy.Permissions) error {
	objects, err := t.objects(found)
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
	objects, err := t.objects(found)
	if err != nil {
		return removal, err
	}
	removal.Objects, err = t.uninstall(ctx, objects, true)
	removal.Done = english.Plural(removal.Objects, "object")
	return removal, err
}

// uninstall deletes objects and, if they are the whole workspace, also its records
// and certificate. It returns how many objects were deleted, also with an error.
func (t Target) uninstall(ctx context.Context, objects []*unstructured.Unstructured, whole bool) (int, error) {
	removed, err := t.applier(apply.DryRunNone).Remove(ctx, objects)
	if err != nil || !whole {
		return len(removed), err
	}
	// cert-manager leaves the Secret of a certificate behind, and creates it again
	// as long as the certificate is there.
	if _, err := t.applier(apply.DryRunNone).Remove(ctx, manifest.Certified(objects)); err != nil {
		return len(removed), err
	}
	return len(removed), t.Records().Purge(ctx, t.ID)
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

// objects are those of the record. Without one they are what a workspace of that
// ID can have: its names follow from the ID.
func (t Target) objects(found inventory.Found) ([]*unstructured.Unstructured, error) {
	if found.Record != nil {
		objects, err := release.Objects(found.Record.Manifest)
		if err != nil {
			return nil, fault.New(fault.Internal, "the record of release %s cannot be read: %w", t.ID, err).
				WithHint("`helm uninstall %s` may still work", t.ID)
		}
		return objects, nil
	}
	if found.Pod == nil {
		return nil, nil // it has been removed meanwhile
	}
	return manifest.OfPod(found.Pod), nil
}
