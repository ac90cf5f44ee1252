package injected

import (
	"context"

	"github.com/berthdev/berth/internal/apply"
	"github.com/berthdev/berth/internal/provision/deploy"
	"github.com/berthdev/berth/internal/provision/inventory"
)

// Preview is what BringUp would create, and the workload as it would be patched.
func (t Target) Preview(ctx context.Context, _ deploy.Plan, found inventory.Found, d deploy.Deployment, dry apply.DryRun) (apply.Changes, error) {
	_, changes, err := t.inject(ctx, found.Workload, d, dry)
	return changes, err
}

// PreviewRemove is what Remove would delete, and the workload as it would be
// patched.
func (t Target) PreviewRemove(ctx context.Context, found inventory.Found, dry apply.DryRun) (apply.Changes, error) {
	patched, objects, err := t.takeOut(ctx, found.Workload, t.eject, dry)
	if err != nil {
		return nil, err
	}
	removed, err := t.applier(dry).Remove(ctx, objects)
	return append(patched, removed...), err
}
