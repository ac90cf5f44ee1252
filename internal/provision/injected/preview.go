package injected

import (
	"context"

	"github.com/berthdev/berth/internal/apply"
	"github.com/berthdev/berth/internal/provision/deploy"
	"github.com/berthdev/berth/internal/provision/inventory"
)

// Preview is what BringUp would create, and the workload as it would be patched.
func (t Target) Preview(ctx context.Context, plan deploy.Plan, found inventory.Found, d deploy.Deployment,
	dry apply.DryRun,
) (apply.Changes, error) {
	_, changes, err := t.inject(ctx, deploy.Turn{Found: found, Plan: plan}, d, dry)
	return changes, err
}

// PreviewRemove is what Remove would delete, and the workload as it would be
// patched.
func (t Target) PreviewRemove(ctx context.Context, found inventory.Found, how deploy.Removing) (apply.Changes, error) {
	taking := takingOut{change: t.eject, dry: how.DryRun}
	if how.KeepStorage {
		taking.keeps = deploy.IsClaim
	}
	out, err := t.takeOut(ctx, nil, found.Workload, taking)
	return append(out.patched, out.removed...), err
}
