package standalone

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/types"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/apply"
	"github.com/berthdev/berth/internal/english"
	"github.com/berthdev/berth/internal/provision/deploy"
	"github.com/berthdev/berth/internal/provision/inventory"
)

// Undo removes what this run has created. Where it was the first, nothing of the
// workspace is left.
func (t Target) Undo(ctx context.Context, before inventory.Found, d deploy.Deployment, result deploy.Result) (string, error) {
	first := before.Record == nil && (before.Pod == nil || before.Reading.Verdict() == v1.VerdictTerminating)
	removed, _, err := t.uninstall(ctx, result.Changes.Removable(d.Objects, t.Client.Namespace, first), first, apply.DryRunNone)
	if err != nil {
		return "", fmt.Errorf("what was created could not be removed: %w", err)
	}
	text := english.Plural(len(removed), "object")
	if result.Pod != nil && !t.isGone(ctx, result.Pod.UID) {
		text += ", the pod is still terminating"
	}
	return text, nil
}

// isGone waits for that. The watch of the pod may have ended with the run.
func (t Target) isGone(ctx context.Context, uid types.UID) bool {
	ctx, cancel := context.WithTimeout(ctx, deploy.GoneTime)
	defer cancel()
	follower, err := t.Watch(ctx, inventory.Found{}, deploy.Deployment{})
	return err == nil && follower.WaitGone(ctx, uid) == nil
}
