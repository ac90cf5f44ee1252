package deploy

import (
	"context"
	"fmt"
	"strings"

	"github.com/berthdev/berth/internal/apply"
	"github.com/berthdev/berth/internal/kube"
	"github.com/berthdev/berth/internal/provision/inventory"
	"github.com/berthdev/berth/internal/provision/manifest"
)

// Applier is for the objects of an owner in the namespace. What others have
// changed in them is corrected, and what is deleted is deleted by its name, under
// the lock.
func Applier(r inventory.Reader, owner apply.Owner, dry apply.DryRun) apply.Applier {
	return apply.Applier{
		Client: r.Client.Dynamic, Discovery: r.Client.Discovery(), Namespace: r.Client.Namespace,
		Owner: owner, Force: true, ByName: true, DryRun: dry,
	}
}

// Share creates what the workspaces of the namespace have in common, if the
// blueprint or the configuration asks for something of the kind. Nothing says
// which of them was the first: it belongs to none.
func Share(ctx context.Context, r inventory.Reader, d Deployment, dry apply.DryRun) (apply.Changes, error) {
	applier := Applier(r, apply.Owner{Name: "berth", Labels: map[string]string{"app.kubernetes.io/managed-by": "berth"}}, dry)
	applier.Shared = true
	return applier.Apply(ctx, d.Shared)
}

// ShareStep is Share as a step, if there is anything to share.
func ShareStep(ctx context.Context, r inventory.Reader, d Deployment, steps *Steps) error {
	if len(d.Shared) == 0 {
		return nil
	}
	return steps.Do("share", func() (string, error) {
		there, err := Share(ctx, r, d, apply.DryRunNone)
		if err == nil {
			WarnOfClaims(d, there, steps)
		}
		return fmt.Sprintf("%d objects of the namespace", len(there)), err
	})
}

// WarnOfClaims warns of claims that existed and are not what the blueprint asks
// for now: the spec of a claim cannot be changed later.
func WarnOfClaims(d Deployment, there apply.Changes, steps *Steps) {
	for _, claim := range append(apply.Unwrap(d.Shared), d.Objects...) {
		have, known := there.Of(claim)
		if claim.GetKind() != kindClaim || !known {
			continue
		}
		if changes := manifest.ClaimChanges(claim, have.Object); len(changes) > 0 {
			steps.Warn("ClaimSpecChanged", kube.Object("persistentvolumeclaim", claim.GetName()),
				fmt.Sprintf("storage %s stays as it is: %s", manifest.StorageOf(d.Chart.Values, claim.GetName()), strings.Join(changes, "; ")))
		}
	}
}
