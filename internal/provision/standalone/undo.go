package standalone

import (
	"context"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/types"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/apply"
	"github.com/berthdev/berth/internal/english"
	"github.com/berthdev/berth/internal/provision/deploy"
	"github.com/berthdev/berth/internal/provision/inventory"
	"github.com/berthdev/berth/internal/provision/manifest"
	"github.com/berthdev/berth/internal/release"
	"github.com/berthdev/berth/internal/watch"
)

// Undo removes what this run has created. Where it was the first, nothing of the
// workspace is left.
func (t Target) Undo(ctx context.Context, turn deploy.Turn, d deploy.Deployment, result deploy.Result) (string, error) {
	removed, err := t.undo(ctx, turn, d, result)
	if err != nil {
		return "", fmt.Errorf("what was created could not be removed: %w", err)
	}
	text := english.Count(len(removed), "object")
	if result.Pod != nil && !t.isGone(ctx, result.Pod.UID) {
		text += ", the pod is still terminating"
	}
	return text, nil
}

func (t Target) undo(ctx context.Context, turn deploy.Turn, d deploy.Deployment, result deploy.Result) (apply.Changes,
	error,
) {
	before := turn.Found
	first := before.Record == nil && (before.Pod == nil || before.Reading.Verdict() == v1.VerdictTerminating)
	mine, unsure := result.Changes.Removable(d.Objects, t.Client.Namespace, first)
	owned, err := t.find(ctx, append(unsure, manifest.Certified(t.ID, mine)...))
	if err != nil {
		return nil, err
	}
	owned.objects = append(owned.objects, mine...)
	applier := t.applier(turn.Lock, apply.DryRunNone)
	if err := deploy.KeepAgain(ctx, applier, result.Changes.Objects); err != nil {
		return nil, err
	}
	if !first {
		return applier.Remove(ctx, owned.objects)
	}
	removed, _, err := t.uninstall(ctx, turn.Lock, owned, apply.DryRunNone)
	return removed, err
}

// Still is nil: a pod that is deleted is a reading of its own.
func (Target) Still(watch.State) error { return nil }

// Withdraw deletes what this run has created and nobody has adopted since. As long as
// there is a record that another run has written, all of it is that run's.
func (t Target) Withdraw(ctx context.Context, turn deploy.Turn, d deploy.Deployment, result deploy.Result) error {
	applier, changes := t.applier(turn.Lock, apply.DryRunNone), result.Changes.Objects
	isRecord := func(c apply.Change) bool {
		return c.Object.GetKind() == "Secret" && result.Record != nil &&
			c.Object.GetName() == release.Key(t.ID, result.Record.Version)
	}
	i := slices.IndexFunc(changes, isRecord)
	if i >= 0 {
		if _, err := applier.Withdraw(ctx, nil, changes[i:i+1]); err != nil {
			return err
		}
	}
	record, err := t.Records().Latest(ctx, t.ID)
	if err != nil || record != nil {
		return err
	}
	_, err = applier.Withdraw(ctx, append(d.Objects, d.Spec.Private()...),
		slices.DeleteFunc(slices.Clone(changes), isRecord))
	return err
}

// isGone waits for that. The watch of the pod may have ended with the run.
func (t Target) isGone(ctx context.Context, uid types.UID) bool {
	ctx, cancel := context.WithTimeout(ctx, deploy.GoneTime)
	defer cancel()
	follower, err := t.Watch(ctx, inventory.Found{}, deploy.Deployment{})
	return err == nil && follower.WaitGone(ctx, uid) == nil
}
