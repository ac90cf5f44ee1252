package provision

import (
	"context"
	"fmt"

	"github.com/berthdev/berth/internal/apply"
	"github.com/berthdev/berth/internal/provision/deploy"
)

// share creates what the workspaces of the namespace have in common, if the
// blueprint or the configuration asks for something of the kind.
func (s provisioning) share(ctx context.Context, plan deploy.Plan, d deploy.Deployment) error {
	if len(d.Shared) == 0 || !plan.Writes() {
		return nil
	}
	return s.steps.Do("share", func() (string, error) {
		there, err := s.sharer(apply.DryRunNone).Apply(ctx, d.Shared)
		if err == nil {
			deploy.WarnOfClaims(d, there, s.steps)
		}
		return fmt.Sprintf("%d objects of the namespace", len(there)), err
	})
}

// sharer applies what belongs to no workspace: nothing says which of them was the
// first.
func (s session) sharer(dry apply.DryRun) apply.Applier {
	owner := apply.Owner{Name: "berth", Labels: map[string]string{"app.kubernetes.io/managed-by": "berth"}}
	applier := deploy.Applier(s.Reader, owner, dry)
	applier.Shared = true
	return applier
}
