package provision

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/wait"

	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/provision/injection"
	"github.com/berthdev/berth/internal/provision/workload"
)

// undoInjection takes the workspace that this run has injected out of its
// workload again.
func (r *run) undoInjection(ctx context.Context) (string, error) {
	now, err := workload.Read(ctx, r.Client, r.id, r.found.Workload.Ref)
	if err != nil {
		return "", err
	}
	r.found.Workload = now
	n, err := r.takeOut(ctx, func(object map[string]any) (injection.Change, error) {
		if err := r.mayUndo(object); err != nil {
			return injection.Change{}, err
		}
		return injection.Eject(object, r.id)
	}, r.creation.spares)
	if err != nil {
		return "", err
	}
	text := fmt.Sprintf("taken out of %s, %d objects", now.Ref, n)
	if !r.stays() && !r.podsClean(ctx) {
		text += ", pods that have it are still ending"
	}
	return text, nil
}

// mayUndo refuses to take out what is not this run's work alone.
func (r *run) mayUndo(object map[string]any) error {
	now := workload.Workload{Ref: r.found.Workload.Ref, ID: r.id, Object: object}
	var err error
	now.Record, err = injection.RecordOf((&unstructured.Unstructured{Object: object}).GetAnnotations())
	switch {
	case err != nil:
		return err
	case now.Record == nil: // it did not get as far, or somebody was faster
		return nil
	case r.creation.replaced:
		return fault.New(fault.Conflict, "it was there before this run")
	case !now.Injected():
		return fault.New(fault.Conflict, "workspace %s is in its place", now.Record.CanonicalID)
	case now.Job() != r.jobID:
		return fault.New(fault.Conflict, "somebody else has injected it again or changed its labels since")
	}
	return nil
}

// spares says which of the workspace's objects stay: a claim holds what a user
// made, and goes only if this run is known to have made it.
func (c *creation) spares(object *unstructured.Unstructured) bool {
	return object.GetKind() == "PersistentVolumeClaim" && len(c.of([]*unstructured.Unstructured{object}, false)) == 0
}

// podsClean waits until no pod has the workspace any more. The watch of them may
// have ended with the run.
func (r *run) podsClean(ctx context.Context) bool {
	err := wait.PollUntilContextTimeout(ctx, gonePoll, goneTime, true, func(ctx context.Context) (bool, error) {
		clean, err := r.found.Workload.Clean(ctx)
		if apierrors.IsForbidden(err) {
			return false, err
		}
		return clean, nil // what cannot be read now is read again
	})
	return err == nil
}
