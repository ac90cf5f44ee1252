package injected

import (
	"context"

	"k8s.io/apimachinery/pkg/runtime"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/apply"
	"github.com/berthdev/berth/internal/english"
	"github.com/berthdev/berth/internal/kube"
	"github.com/berthdev/berth/internal/provision/deploy"
	"github.com/berthdev/berth/internal/provision/injection"
	"github.com/berthdev/berth/internal/provision/workload"
	"github.com/berthdev/berth/internal/watch/follow"
)

// BringUp makes sure that the workspace is in the workload, and follows the
// rollout from then on.
func (t Target) BringUp(ctx context.Context, turn deploy.Turn, d deploy.Deployment) (deploy.Result, error) {
	if err := turn.Lock.Confirm(ctx); err != nil {
		return deploy.Result{}, err
	}
	if !turn.Plan.Writes() {
		return deploy.Result{Reading: turn.Found.Reading}, begin(turn.Follower, turn.Found.Workload)
	}
	result := deploy.Result{Changes: deploy.Changes{Replaced: turn.Plan == deploy.Replace}}
	err := t.Steps.Do("inject", func() (message string, err error) {
		patched, changes, err := t.inject(ctx, turn.Found.Workload, d, apply.DryRunNone)
		result.Changes.Objects, result.Changes.Begun = changes, patched != nil
		if err != nil {
			return "", err
		}
		result.Reading = v1.Snapshot{Stage: v1.StageScheduling, Status: v1.StageScheduling.Status(), Message: "the rollout has begun"}
		if err := begin(turn.Follower, patched); err != nil {
			return "", err
		}
		return t.Ref.String() + ", " + english.Plural(len(d.Objects), "object"), t.deleteStuckPods(ctx, patched, d.Spec.JobID)
	})
	return result, err
}

// inject creates what the volumes are made of, and patches the workload last, so
// that no pod waits for a ConfigMap and an interrupted run has not changed the
// workload. That is nil if it has certainly not been patched.
func (t Target) inject(ctx context.Context, w *workload.Workload, d deploy.Deployment, dry apply.DryRun) (*workload.Workload, apply.Changes, error) {
	changes, err := t.applier(dry).Apply(ctx, apply.Objects(d.Objects))
	if err != nil {
		return nil, changes, err
	}
	patched, patch, err := t.patch(ctx, w, func(object map[string]any) (injection.Change, error) {
		return injection.Inject(object, d.Parts)
	}, dry)
	if kube.Declined(err) {
		return nil, changes, err
	}
	return patched, append(changes, patch...), err
}

// begin makes this version of the workload the one that is followed.
func begin(follower *follow.Follower, w *workload.Workload) error {
	object, err := w.Typed()
	if known, ok := object.(runtime.Object); ok {
		follower.Begin(known)
	}
	return err
}

// Complete does nothing: an injected workspace is not a release.
func (Target) Complete(context.Context, deploy.Deployment, deploy.Result) error { return nil }
