package provision

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/event"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/lock"
	"github.com/berthdev/berth/internal/provision/inventory"
	"github.com/berthdev/berth/internal/provision/manifest"
	"github.com/berthdev/berth/internal/release"
	"github.com/berthdev/berth/internal/watch/follow"
)

// Delete removes a workspace that Find has found and waits until its pod is
// gone, unless noWait. What is shared in the namespace stays.
func (p *Provisioner) Delete(ctx context.Context, t *inventory.Target, noWait bool, stream *event.Stream) (*v1.Deletion, error) {
	p = p.in(t.Namespace)
	r := &run{Provisioner: p, id: t.ID, namespace: t.Namespace, found: t.Found, rendered: &release.Rendered{}, steps: newSteps(stream, p.Now)}
	deletion := &v1.Deletion{TypeMeta: v1.Kind(v1.KindDeletion), ID: r.id, Namespace: r.namespace}
	// The watches end with this call.
	working, cancel := context.WithCancel(ctx)
	defer cancel()
	err := r.remove(working, deletion, noWait)
	deletion.Seconds = r.steps.total(0).Seconds
	return deletion, r.endedRemoving(ctx, err)
}

// Forget removes the lock that a killed run may have left on what is gone.
func (p *Provisioner) Forget(ctx context.Context, arg inventory.Argument) {
	for _, id := range arg.IDs() {
		p.in(arg.Namespace).locker(deleting).Sweep(ctx, id)
	}
}

func (r *run) remove(ctx context.Context, deletion *v1.Deletion, noWait bool) error {
	if r.found.Workload != nil {
		return r.removeInjected(ctx, deletion, noWait)
	}
	err := r.steps.do("uninstall", func() (string, error) {
		var err error
		deletion.Objects, err = r.uninstall(ctx, noWait)
		return fmt.Sprintf("%d objects", deletion.Objects), err
	})
	if err != nil || r.follower == nil {
		deletion.Gone = err == nil && r.found.Pod == nil
		return err
	}
	err = r.follower.Run(ctx, r.Policy, r.Now, func(c follow.Change) (done bool) {
		// What goes wrong with a pod that is going concerns nobody: its ConfigMaps
		// are gone before it is.
		c.Snapshot.Warnings, c.Warnings, c.Objects = nil, nil, nil
		verdict := c.Snapshot.Verdict()
		c.Changed = c.Changed && (verdict == v1.VerdictTerminating || verdict == v1.VerdictGone)
		r.tell(c)
		return verdict == v1.VerdictGone
	})
	deletion.Gone = err == nil
	return err
}

// uninstall removes objects and records under the lock: what there is, is looked
// up with the lock in hand. The record goes last: a run that is cut off finds it
// again. The lock is given back before the pod is gone; whoever provisions now
// waits for that.
func (r *run) uninstall(ctx context.Context, noWait bool) (int, error) {
	if err := r.mayRemove(ctx); err != nil {
		return 0, err
	}
	held, err := r.lockForDelete(ctx)
	if err != nil {
		return 0, err
	}
	defer r.release(ctx, held)
	if r.found, err = r.Stands(ctx, r.id); err != nil {
		return 0, err
	}
	if r.found.Pod != nil && !noWait {
		if err := r.open(ctx); err != nil {
			return 0, err
		}
		r.follower.Expect(r.found.Pod.UID)
	}
	objects, err := r.objects()
	if err != nil {
		return 0, err
	}
	removed, err := r.installer().Remove(ctx, objects)
	n := len(removed)
	if err != nil {
		return n, err
	}
	// cert-manager leaves the Secret of a certificate behind, and makes it again
	// as long as the certificate is there.
	if _, err := r.installer().Remove(ctx, manifest.Certified(objects)); err != nil {
		return n, err
	}
	return n, r.Records().Purge(ctx, r.id)
}

func (r *run) lockForDelete(ctx context.Context) (*lock.Lock, error) {
	locker := r.locker(deleting)
	held, holder, err := locker.Try(ctx, r.id, nil)
	switch {
	case held != nil || err != nil:
		return held, err
	case r.WaitForLock:
		r.steps.Progress(v1.Progress{Message: "waiting for " + holder.Holder.Human()})
		r.blocker = holder.Holder.Human()
		held, err = retry(ctx, locker, r.id, holder, follows)
		if err == nil {
			r.blocker = ""
		}
		return held, err
	default:
		return r.expire(ctx, locker, holder)
	}
}

// objects are those of the record. Without one they are what a workspace of
// that ID can have: its names follow from the ID.
func (r *run) objects() ([]*unstructured.Unstructured, error) {
	if r.found.Record != nil {
		objects, err := release.Objects(r.found.Record.Manifest)
		if err != nil {
			return nil, fault.New(fault.Internal, "the record of release %s cannot be read: %w", r.id, err).
				WithHint("`helm uninstall %s` may still work", r.id)
		}
		return objects, nil
	}
	if r.found.Pod == nil {
		return nil, nil // somebody else removed it
	}
	return manifest.OfPod(r.found.Pod), nil
}
