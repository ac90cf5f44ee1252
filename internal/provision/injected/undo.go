package injected

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/berthdev/berth/internal/apply"
	"github.com/berthdev/berth/internal/english"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/lock"
	"github.com/berthdev/berth/internal/provision/deploy"
	"github.com/berthdev/berth/internal/provision/injection"
	"github.com/berthdev/berth/internal/provision/inventory"
	"github.com/berthdev/berth/internal/provision/workload"
)

// Undo takes the workspace that this run has injected out of its workload again.
func (t Target) Undo(ctx context.Context, turn deploy.Turn, d deploy.Deployment, result deploy.Result) (string, error) {
	text, err := t.undo(ctx, turn.Lock, d.Spec.JobID, result.Changes)
	if err != nil {
		return "", fmt.Errorf("the workspace was not taken out of %s: %w", t.Ref, err)
	}
	return text, nil
}

func (t Target) undo(ctx context.Context, held *lock.Lock, job string, changes deploy.Changes) (string, error) {
	w, err := workload.Read(ctx, t.Client, t.ID, t.Ref)
	if err != nil {
		return "", err
	}
	if err := deploy.KeepAgain(ctx, t.applier(held, apply.DryRunNone), changes.Objects); err != nil {
		return "", err
	}
	out, err := t.takeOut(ctx, held, w,
		takingOut{keeps: changes.Keeps, change: func(object map[string]any) (injection.Change, error) {
			if err := t.mayUndo(object, job, changes); err != nil {
				return injection.Change{}, err
			}
			return t.eject(object)
		}})
	if err != nil {
		return "", err
	}
	text := fmt.Sprintf("taken out of %s, %s", t.Ref, english.Count(len(out.removed), "object"))
	if !t.warnIfPodsStay(out.workload) && !t.isClean(ctx, out.workload) {
		text += ", pods that have it are still terminating"
	}
	return text, nil
}

// Withdraw deletes what this run has created and nobody has adopted since, where it
// has lost the lock before the workload was patched.
func (t Target) Withdraw(ctx context.Context, turn deploy.Turn, d deploy.Deployment, result deploy.Result) error {
	if result.Changes.Begun {
		return nil // it is whole, or what another run has made of it
	}
	w, err := workload.Read(ctx, t.Client, t.ID, t.Ref)
	if err != nil || w.Injected() {
		return err
	}
	_, err = t.applier(turn.Lock, apply.DryRunNone).Withdraw(ctx, d.Objects, result.Changes.Objects)
	return err
}

// mayUndo refuses to take out what is not this run's work alone.
func (t Target) mayUndo(object map[string]any, job string, changes deploy.Changes) error {
	record, err := injection.RecordOf((&unstructured.Unstructured{Object: object}).GetAnnotations())
	switch {
	case err != nil:
		return err
	case record == nil: // this run did not get as far, or it has been taken out already
		return nil
	case changes.Replaced:
		return fault.New(fault.Conflict, "it existed before this run")
	case record.CanonicalID != t.ID:
		return fault.New(fault.Conflict, "workspace %s is injected instead", record.CanonicalID)
	case workload.JobOf(object) != job:
		return fault.New(fault.Conflict, "it was injected again or relabelled since")
	}
	return nil
}

// isClean waits for that. The watch of the pods may have ended with the run.
func (t Target) isClean(ctx context.Context, w *workload.Workload) bool {
	ctx, cancel := context.WithTimeout(ctx, deploy.GoneTime)
	defer cancel()
	follower, err := t.Watch(ctx, inventory.Found{Workload: w}, deploy.Deployment{})
	if err != nil {
		return false
	}
	left, err := t.awaitClean(ctx, w, follower, func([]*corev1.Pod) {})
	return err == nil && left.Gone
}
