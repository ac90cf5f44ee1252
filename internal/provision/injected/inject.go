package injected

import (
	"context"
	"math/rand/v2"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/apply"
	"github.com/berthdev/berth/internal/english"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/kube"
	"github.com/berthdev/berth/internal/lock"
	"github.com/berthdev/berth/internal/provision/deploy"
	"github.com/berthdev/berth/internal/provision/injection"
	"github.com/berthdev/berth/internal/provision/workload"
	"github.com/berthdev/berth/internal/watch"
	"github.com/berthdev/berth/internal/watch/follow"
)

// BringUp makes sure that the workspace is in the workload, and follows the
// rollout from then on.
func (t Target) BringUp(ctx context.Context, turn deploy.Turn, d deploy.Deployment) (deploy.Result, error) {
	if err := turn.Lock.Confirm(ctx); err != nil {
		return deploy.Result{}, err
	}
	if turn.Plan == deploy.Resume || turn.Plan == deploy.Refuse {
		return deploy.Result{Reading: turn.Found.Reading}, begin(turn.Follower, turn.Found.Workload)
	}
	replaced := turn.Plan != deploy.Install && (turn.Plan != deploy.Update || turn.Found.Workload.Injected())
	result := deploy.Result{Changes: deploy.Changes{Replaced: replaced}}
	err := t.Steps.Do("inject", func() (message string, err error) {
		patched, changes, err := t.inject(ctx, turn, d, apply.DryRunNone)
		result.Changes.Objects, result.Changes.Begun = changes, patched != nil
		if err != nil {
			return "", err
		}
		if err := begin(turn.Follower, patched); err != nil {
			return "", err
		}
		message = t.Ref.String() + ", " + english.Count(len(d.Objects), "object")
		if turn.Plan == deploy.Heal {
			result.Reading = turn.Found.Reading
			return message, nil
		}
		result.Reading = v1.Snapshot{
			Stage: v1.StageScheduling, Status: v1.StageScheduling.Status(),
			Message: "the rollout has begun",
		}
		return message, t.deleteStuckPods(ctx, patched, d.Spec.JobID)
	})
	return result, err
}

// inject creates what the volumes are made of, and patches the workload last, so
// that no pod waits for a ConfigMap and an interrupted run has not changed the
// workload. That is nil if it has certainly not been patched.
func (t Target) inject(ctx context.Context, turn deploy.Turn, d deploy.Deployment,
	dry apply.DryRun,
) (*workload.Workload, apply.Changes, error) {
	applier := t.applier(turn.Lock, dry)
	applier.Accept, applier.Recreates = deploy.Usable(d.Spec.User), deploy.Renewing(t.Reader)
	changes, err := applier.Apply(ctx, apply.Objects(d.Objects))
	if err != nil {
		return nil, changes, err
	}
	deploy.WarnOfClaims(d, changes, t.Steps)
	patched, patch, err := t.patch(ctx, turn.Lock, turn.Found.Workload, t.injection(turn, d.Parts), dry)
	if kube.Declined(err) {
		return nil, changes, err
	}
	return patched, append(changes, patch...), err
}

// injection is the change that puts the workspace into its workload. One that is there
// and only lacks objects is marked: to take it out now would leave those.
func (t Target) injection(turn deploy.Turn, parts injection.Parts) change {
	_, mark := turn.Lock.Mark()
	parts.Lock = mark
	return func(object map[string]any) (injection.Change, error) {
		if turn.Plan != deploy.Heal {
			return injection.Inject(object, parts)
		}
		w, err := workload.Of(t.ID, t.Ref, &unstructured.Unstructured{Object: object})
		if err == nil && !w.Injected() {
			err = t.takenOut()
		}
		if err != nil {
			return injection.Change{}, err
		}
		return injection.Mark(object, mark)
	}
}

// Still returns an error if the workspace is not in the workload any more.
func (t Target) Still(s watch.State) error {
	object := s.Object()
	if object == nil {
		return nil // which the reading says
	}
	record, err := injection.RecordOf(object.GetAnnotations())
	if err == nil && (record == nil || record.CanonicalID != t.ID) {
		err = t.takenOut()
	}
	return err
}

func (t Target) takenOut() error {
	return fault.New(fault.Conflict, "workspace %s was taken out of %s while it was being provisioned", t.ID, t.Ref).
		WithHint("provision it again")
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

// How long a patch is tried on a workload that others change all the time, and the
// longest pause between two attempts. The pauses are random: a client that writes at intervals
// would be met again and again.
const (
	patchTime  = 30 * time.Second
	patchPause = 50 * time.Millisecond
)

// change computes a patch from a version of the workload.
type change func(object map[string]any) (injection.Change, error)

// patch changes the workload as it was read, or as it is by then: the change is
// computed from each version, and applies to that one alone. The lock is confirmed
// between the two, so that the next holder writes after the version was read.
// It returns the newest version, and what was done; no version with an error if the
// workload has certainly not been patched.
func (t Target) patch(ctx context.Context, held *lock.Lock, w *workload.Workload, change change,
	dry apply.DryRun,
) (*workload.Workload, apply.Changes, error) {
	for begun := time.Now(); ; {
		if err := confirm(ctx, held, w); err != nil {
			return nil, nil, err
		}
		c, err := change(w.Object)
		if err != nil {
			return nil, nil, err
		}
		if c.Patch == nil {
			return w, nil, nil
		}
		object, err := t.send(ctx, c, dry)
		if err == nil {
			patched, err := workload.Of(t.ID, t.Ref, object)
			return patched, apply.Changes{{Action: apply.Updated, Object: object}}, err
		}
		if !apierrors.IsConflict(err) && !apierrors.IsInvalid(err) {
			return w, nil, t.fault(err)
		}
		newer, readErr := t.readAgain(ctx)
		if readErr != nil {
			return nil, nil, readErr
		}
		// A test that fails is an invalid patch to the API server, as is one that
		// makes no sense: what tells them apart is the version.
		switch {
		case version(newer) == version(w):
			return nil, nil, t.fault(err)
		case time.Since(begun) > patchTime:
			return nil, nil, fault.New(fault.Conflict, "%s is being changed by another client all the time", t.Ref).
				WithHint("try again")
		}
		w = newer
		select {
		case <-ctx.Done():
			return nil, nil, ctx.Err()
		case <-time.After(rand.N(patchPause)):
		}
	}
}

// confirm makes sure that the lock is held, and that nothing in the workload is of a
// newer one. A dry run has none.
func confirm(ctx context.Context, held *lock.Lock, w *workload.Workload) error {
	if held == nil {
		return nil
	}
	if ctx.Err() != nil {
		return context.Cause(ctx) // nothing is sent any more
	}
	if err := held.Check(ctx, (&unstructured.Unstructured{Object: w.Object}).GetAnnotations()); err != nil {
		return err
	}
	return held.Confirm(ctx)
}

// send sends a patch to the API server, unless it is a dry run without it.
func (t Target) send(ctx context.Context, c injection.Change, dry apply.DryRun) (*unstructured.Unstructured, error) {
	if dry == apply.DryRunClient {
		return &unstructured.Unstructured{Object: c.After}, nil
	}
	options := metav1.PatchOptions{FieldManager: kube.FieldManager, DryRun: dry.Options()}
	return workload.API(t.Client, t.Ref).Patch(ctx, t.Ref.Name, types.JSONPatchType, c.Patch, options)
}

func (t Target) fault(err error) error {
	return kube.Fault(err, workload.Call("patch", t.Client.Namespace, t.Ref))
}

func (t Target) readAgain(ctx context.Context) (*workload.Workload, error) {
	w, err := workload.Read(ctx, t.Client, t.ID, t.Ref)
	if err == nil && w.Object == nil {
		return nil, fault.New(fault.NotFound, "%s was deleted meanwhile", t.Ref)
	}
	return w, err
}

func version(w *workload.Workload) string {
	return (&unstructured.Unstructured{Object: w.Object}).GetResourceVersion()
}
