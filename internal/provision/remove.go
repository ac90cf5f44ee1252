package provision

import (
	"context"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/event"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/lock"
	"github.com/berthdev/berth/internal/release"
	"github.com/berthdev/berth/internal/watch"
)

// Delete removes a workspace that Find has found and waits until its pod is
// gone, unless noWait. What is shared in the namespace stays.
func (p *Provisioner) Delete(ctx context.Context, w *Target, noWait bool, stream *event.Stream) (*v1.Deletion, error) {
	r := &run{Provisioner: p, id: w.ID, namespace: p.Client.Namespace, found: w.found, rendered: &release.Rendered{}, steps: newSteps(stream, p.Now)}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	deletion := &v1.Deletion{TypeMeta: v1.Kind(v1.KindDeletion), ID: r.id, Namespace: r.namespace}
	err := r.remove(ctx, deletion, noWait)
	deletion.Seconds = r.steps.total(0).Seconds
	return deletion, r.ended(ctx, err)
}

// Target is a workspace that exists, or a part of one.
type Target struct {
	ID    string
	found found
}

// Find looks up what a user string or canonical ID means.
func (p *Provisioner) Find(ctx context.Context, arg string) (*Target, error) {
	id, f, err := p.find(ctx, arg)
	if err != nil {
		return nil, err
	}
	return &Target{ID: id, found: f}, nil
}

func (r *run) remove(ctx context.Context, deletion *v1.Deletion, noWait bool) error {
	if !noWait && r.found.pod != nil {
		if err := r.open(ctx); err != nil {
			return err
		}
		r.follower.Expect(r.found.pod.UID)
	}
	err := r.steps.do("uninstall", func() (string, error) {
		var err error
		deletion.Objects, err = r.uninstall(ctx)
		return fmt.Sprintf("%d objects", deletion.Objects), err
	})
	if err != nil || r.found.pod == nil {
		deletion.Gone = err == nil
		return err
	}
	if noWait {
		return nil
	}
	err = r.follower.Run(ctx, r.Policy, r.Now, func(c watch.Change) (done bool) {
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

// uninstall removes objects and records under the lock. The record goes last:
// a run that is cut off finds it again.
func (r *run) uninstall(ctx context.Context) (int, error) {
	held, err := r.lockForDelete(ctx)
	if err != nil {
		return 0, err
	}
	defer r.release(ctx, held)
	objects, err := r.objects()
	if err != nil {
		return 0, err
	}
	n, err := r.applier(r.id).Remove(ctx, objects)
	if err != nil {
		return n, err
	}
	return n, r.records().Purge(ctx, r.id)
}

func (r *run) lockForDelete(ctx context.Context) (*lock.Lock, error) {
	locker := r.locker(deleting)
	held, holder, err := locker.Try(ctx, r.id, nil)
	switch {
	case held != nil || err != nil:
		return held, err
	case !r.WaitForLock:
		return nil, busy(r.id, holder)
	default:
		r.steps.Progress(v1.Progress{Message: "waiting for " + holder.Holder.Human()})
		return retry(ctx, locker, r.id, holder)
	}
}

// objects are those of the record. Without one they are what a workspace of
// that ID can have: its names follow from the ID.
func (r *run) objects() ([]*unstructured.Unstructured, error) {
	if r.found.record != nil {
		objects, err := release.Objects(r.found.record.Manifest)
		if err != nil {
			return nil, fault.New(fault.Internal, "the record of release %s cannot be read: %w", r.id, err).
				WithHint("`helm uninstall %s` may still work", r.id)
		}
		return objects, nil
	}
	objects := []*unstructured.Unstructured{named("Pod", r.id), named("Service", r.id)}
	for _, name := range configMapNames(r.id) {
		objects = append(objects, named("ConfigMap", fmt.Sprint(name)))
	}
	for _, volume := range r.found.pod.Spec.Volumes {
		if claim := volume.PersistentVolumeClaim; claim != nil && strings.HasPrefix(claim.ClaimName, claimName(r.id, "")) {
			objects = append(objects, named("PersistentVolumeClaim", claim.ClaimName))
		}
	}
	return objects, nil
}

func named(kind, name string) *unstructured.Unstructured {
	object := &unstructured.Unstructured{}
	object.SetAPIVersion("v1")
	object.SetKind(kind)
	object.SetName(name)
	return object
}
