package injected

import (
	"context"

	"github.com/berthdev/berth/internal/apply"
	"github.com/berthdev/berth/internal/provision/deploy"
	"github.com/berthdev/berth/internal/provision/injection"
	"github.com/berthdev/berth/internal/provision/inventory"
	"github.com/berthdev/berth/internal/provision/workload"
)

// Preview is what BringUp would create, and the workload as it would be patched.
func (t Target) Preview(ctx context.Context, _ deploy.Plan, found inventory.Found, d deploy.Deployment, dry apply.DryRun) (apply.Changes, error) {
	_, changes, err := t.inject(ctx, found.Workload, d, dry)
	return changes, err
}

// PreviewRemove is what Remove would delete, and the workload as it would be
// patched.
func (t Target) PreviewRemove(ctx context.Context, found inventory.Found, dry apply.DryRun) (apply.Changes, error) {
	_, patched, err := t.patch(ctx, found.Workload, func(object map[string]any) (injection.Change, error) {
		return injection.Eject(object, t.ID)
	}, dry)
	if err != nil {
		return nil, err
	}
	objects, err := workload.Objects(ctx, t.Client, t.ID)
	if err != nil {
		return nil, err
	}
	removed, err := t.applier(dry).Remove(ctx, objects)
	return append(patched, removed...), err
}
