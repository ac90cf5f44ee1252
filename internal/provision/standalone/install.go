package standalone

import (
	"context"
	"errors"
	"fmt"
	"slices"

	helm "helm.sh/helm/v3/pkg/release"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/berthdev/berth/internal/apply"
	"github.com/berthdev/berth/internal/english"
	"github.com/berthdev/berth/internal/kube"
	"github.com/berthdev/berth/internal/lock"
	"github.com/berthdev/berth/internal/provision/deploy"
	"github.com/berthdev/berth/internal/provision/inventory"
	"github.com/berthdev/berth/internal/provision/manifest"
	"github.com/berthdev/berth/internal/release"
	"github.com/berthdev/berth/internal/watch"
)

// BringUp makes sure that the release is installed, and follows its pod from
// then on. A pod that the cluster refuses is a failure of the workspace.
func (t Target) BringUp(ctx context.Context, turn deploy.Turn, d deploy.Deployment) (deploy.Result, error) {
	if err := t.makeRoom(ctx, turn); err != nil {
		return deploy.Result{}, err
	}
	if err := turn.Lock.Confirm(ctx); err != nil {
		return deploy.Result{}, err
	}
	if !turn.Plan.Writes() {
		turn.Follower.Expect(turn.Found.Pod.UID)
		return deploy.Result{Record: turn.Found.Record, Pod: turn.Found.Pod, Reading: turn.Found.Reading}, nil
	}
	var result deploy.Result
	err := t.Steps.Do("install", func() (message string, err error) {
		result, err = t.install(ctx, turn, d, apply.DryRunNone)
		if err == nil && result.Pod != nil {
			turn.Follower.Expect(result.Pod.UID)
		}
		return english.Count(len(d.Objects), "object"), err
	})
	if by, refused := errors.AsType[*kube.RefusedError](err); refused {
		return t.refused(ctx, turn.Lock, d, result, by, err)
	}
	return result, err
}

// makeRoom removes the old pod, or waits until it is gone, where a new one is to
// be created.
func (t Target) makeRoom(ctx context.Context, turn deploy.Turn) error {
	pod := turn.Found.Pod
	if turn.Plan != deploy.Replace && turn.Plan != deploy.Await && (turn.Plan != deploy.Update || pod == nil) {
		return nil
	}
	return t.Steps.Do("clean up", func() (string, error) {
		if err := turn.Lock.Confirm(ctx); err != nil {
			return "", err
		}
		if turn.Plan != deploy.Await {
			if err := deploy.DeletePod(ctx, t.Reader, pod); err != nil {
				return "", err
			}
		}
		return "the old pod is gone", turn.Follower.WaitGone(ctx, pod.UID)
	})
}

// install writes Helm's record, pending, and creates the objects.
func (t Target) install(ctx context.Context, turn deploy.Turn, d deploy.Deployment,
	dry apply.DryRun,
) (result deploy.Result, err error) {
	record, changes, err := t.writeRecord(ctx, turn, d, dry)
	result.Record, result.Changes.Objects = record, changes
	// Of one that was there, nothing is new; the answer about a new one may be lost.
	result.Changes.Begun = turn.Found.Record == nil && !errors.Is(err, lock.ErrTaken) &&
		!errors.Is(err, release.ErrExists) && !kube.Declined(err)
	if err != nil {
		return result, err
	}
	t.warnOfUnknown(d)
	applier := t.applier(turn.Lock, dry)
	applier.Accept, applier.Kept = deploy.Usable(d.Spec.User), turn.Kept
	applier.Recreates = deploy.Renewing(t.Reader)
	issued, err := t.issue(ctx, applier, d)
	result.Changes.Objects = append(result.Changes.Objects, issued...)
	if err != nil {
		return result, err
	}
	own, err := applier.Apply(ctx, t.wanted(d))
	result.Changes.Objects = append(result.Changes.Objects, own...)
	if err != nil {
		return result, err
	}
	deploy.WarnOfClaims(d, own, t.Steps)
	t.warnOfLost(turn.Found.Record, own)
	if i := slices.IndexFunc(own, func(c apply.Change) bool { return c.Object.GetKind() == watch.KindPod }); i >= 0 {
		result.Pod = &corev1.Pod{}
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(own[i].Object.Object, result.Pod); err != nil {
			return result, fmt.Errorf("pod: %w", err)
		}
		result.Reading = t.Read(result.Pod)
	}
	return result, nil
}

// warnOfLost says which storages a workspace had that somebody has deleted: it gets new
// ones, which are empty.
func (t Target) warnOfLost(before *helm.Release, changes apply.Changes) {
	if before == nil || before.Info.Status != helm.StatusDeployed {
		return // nobody knows whether they had been created
	}
	objects, err := release.Objects(before.Manifest)
	if err != nil {
		return // a warning less
	}
	had := apply.Changes{}
	for _, claim := range deploy.Claims(objects) {
		had = append(had, apply.Change{Object: claim})
	}
	for _, change := range changes.With(apply.Created) {
		if _, ok := had.Of(change.Object, t.Client.Namespace); ok && change.InPlaceOf == nil {
			name := change.Object.GetName()
			t.Steps.Warn("StorageLost", kube.Object("persistentvolumeclaim", name),
				"storage "+manifest.StorageNamed(t.ID, name)+" is new and empty: somebody has deleted its claim")
		}
	}
}

// wanted are the objects of the release, and those that Helm's record must not
// contain. The first ConfigMap, which every release has, owns those, so that
// `helm uninstall` removes them too.
func (t Target) wanted(d deploy.Deployment) []apply.Wanted {
	_, own := split(d.Objects, t.isIssued)
	all, parent := apply.Objects(own), kube.OfKind(own, "ConfigMap")
	for _, object := range d.Spec.Private() {
		all = append(all, apply.Wanted{Object: object, Parent: parent})
	}
	return all
}

func (t Target) applier(held *lock.Lock, dry apply.DryRun) apply.Applier {
	return deploy.Applier(t.Reader, release.Owner(t.ID, t.Client.Namespace), held, dry)
}

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
