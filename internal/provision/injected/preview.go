package injected

import (
	"context"

	"github.com/berthdev/berth/internal/apply"
	"github.com/berthdev/berth/internal/provision/deploy"
	"github.com/berthdev/berth/internal/provision/inventory"
)

// Preview is what BringUp would create, and the workload as it would be patched.
func (t Target) Preview(ctx context.Context, plan deploy.Plan, found inventory.Found, d deploy.Deployment, dry apply.DryRun) (apply.Changes, error) {
	_, changes, err := t.inject(ctx, deploy.Turn{Found: found, Plan: plan}, d, dry)
	return changes, err
}

// PreviewRemove is what Remove would delete, and the workload as it would be
// patched.
func (t Target) PreviewRemove(ctx context.Context, found inventory.Found, dry apply.DryRun) (apply.Changes, error) {
	out, err := t.takeOut(ctx, nil, found.Workload, takingOut{change: t.eject, dry: dry})
	return append(out.patched, out.removed...), err
}
