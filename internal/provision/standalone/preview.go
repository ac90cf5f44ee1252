package standalone

import (
	"context"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/berthdev/berth/internal/apply"
	"github.com/berthdev/berth/internal/kube"
	"github.com/berthdev/berth/internal/provision/deploy"
	"github.com/berthdev/berth/internal/provision/inventory"
	"github.com/berthdev/berth/internal/provision/manifest"
	"github.com/berthdev/berth/internal/watch"
)

// Preview is what BringUp would change. A pod that replaces another is shown as it
// is rendered: the API server cannot check it while the old one exists.
func (t Target) Preview(ctx context.Context, plan deploy.Plan, found inventory.Found, d deploy.Deployment,
	dry apply.DryRun,
) (apply.Changes, error) {
	result, err := t.install(ctx, deploy.Turn{Found: found, Plan: plan}, d, dry)
	if err != nil {
		return nil, err
	}
	changes := result.Changes.Objects
	if pod := kube.OfKind(d.Objects, watch.KindPod); pod != nil && replaces(plan, found) {
		pod = pod.DeepCopy()
		pod.SetNamespace(t.Client.Namespace)
		changes = append(changes,
			apply.Change{Action: apply.Deleted, Object: kube.Named(watch.KindPod, t.ID)},
			apply.Change{Action: apply.Created, Object: pod})
	}
	return changes, nil
}

// replaces says whether a pod that is there is to be deleted.
func replaces(plan deploy.Plan, found inventory.Found) bool {
	return plan == deploy.Replace || plan == deploy.Update && found.Pod != nil && found.Pod.DeletionTimestamp == nil
}

// PreviewRemove is what Remove would delete: of what the workspace can have, what
// exists.
func (t Target) PreviewRemove(ctx context.Context, found inventory.Found, how deploy.Removing) (apply.Changes, error) {
	_, owned, err := t.survey(ctx, found)
	if err != nil {
		return nil, err
	}
	if how.KeepStorage {
		owned.objects = deploy.WithoutClaims(owned.objects)
	}
	// The cluster deletes what its ConfigMap owns.
	private, err := t.find(ctx, []*unstructured.Unstructured{kube.Named("Secret", manifest.GitSecret(t.ID))})
	if err != nil {
		return nil, err
	}
	owned.secrets = append(owned.secrets, private.objects...)
	removed, beside, err := t.uninstall(ctx, nil, owned, how.DryRun)
	return append(removed, beside...), err
}
