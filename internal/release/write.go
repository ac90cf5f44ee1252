package release

import (
	"context"
	"slices"

	helm "helm.sh/helm/v3/pkg/release"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/berthdev/berth/internal/apply"
	"github.com/berthdev/berth/internal/kube"
)

// Create writes a new record; ErrExists if there is one of that revision.
func (r Records) Create(ctx context.Context, release *helm.Release) error {
	_, err := r.Write(ctx, release, false, apply.DryRunNone)
	return err
}

// Update writes a record that exists.
func (r Records) Update(ctx context.Context, release *helm.Release) error {
	_, err := r.Write(ctx, release, true, apply.DryRunNone)
	return err
}

// Write is Update if the record exists, otherwise Create. It returns the Secret,
// also in a dry run.
func (r Records) Write(ctx context.Context, release *helm.Release, exists bool, dry apply.DryRun) (apply.Change,
	error,
) {
	action, verb, stamp := apply.Created, "create", createdAt
	if exists {
		action, verb, stamp = apply.Updated, "update", modifiedAt
	}
	secret, err := r.encode(release, stamp)
	if err == nil && dry != apply.DryRunClient && len(secret.Data[recordKey]) > r.size() {
		var small *helm.Release
		if small, err = r.writeChunks(ctx, release, dry.Options()); err == nil {
			secret, err = r.encode(small, stamp)
		}
	}
	switch {
	case err != nil || dry == apply.DryRunClient:
	case exists:
		secret.ResourceVersion = release.Labels[labelVersion]
		secret, err = r.Secrets.Update(ctx, secret, metav1.UpdateOptions{DryRun: dry.Options()})
	default:
		secret, err = r.Secrets.Create(ctx, secret, metav1.CreateOptions{DryRun: dry.Options()})
	}
	switch {
	case !exists && apierrors.IsAlreadyExists(err):
		return apply.Change{}, ErrExists
	case err != nil:
		return apply.Change{}, kube.Fault(err, r.call(verb, key(release)))
	}
	if dry == apply.DryRunNone {
		remember(release, secret)
	}
	return r.change(action, secret)
}

// Purge removes every record of a release, and returns those that it has removed,
// also with an error. Confirm is called once they are read: one that another run
// writes after that is not removed.
func (r Records) Purge(ctx context.Context, name string, confirm func(context.Context) error,
	dry apply.DryRun,
) (purged apply.Changes, err error) {
	list, err := r.Secrets.List(ctx, metav1.ListOptions{LabelSelector: selector(name)})
	if err != nil {
		return nil, kube.Fault(err, r.call("list", ""))
	}
	if err := confirm(ctx); err != nil {
		return nil, err
	}
	// One by one: like helm uninstall, this takes no more than the verb delete.
	for i := range list.Items {
		secret := &list.Items[i]
		if dry != apply.DryRunClient {
			err = r.Secrets.Delete(ctx, secret.Name, metav1.DeleteOptions{
				DryRun: dry.Options(), Preconditions: &metav1.Preconditions{
					UID:             &secret.UID,
					ResourceVersion: &secret.ResourceVersion,
				},
			})
		}
		if apierrors.IsNotFound(err) {
			continue
		}
		if err != nil {
			return purged, kube.Fault(err, r.call("delete", secret.Name))
		}
		change, err := r.change(apply.Deleted, secret)
		if err != nil {
			return purged, err
		}
		purged = append(purged, change)
	}
	chunked := func(s corev1.Secret) bool { return s.Labels[labelChunks] != "" }
	if dry == apply.DryRunNone && slices.ContainsFunc(list.Items, chunked) {
		return purged, r.dropChunks(ctx, name, nil)
	}
	return purged, nil
}

func (r Records) change(action apply.Action, secret *corev1.Secret) (apply.Change, error) {
	object, err := kube.Untyped("Secret", secret)
	if err != nil {
		return apply.Change{}, err
	}
	object.SetNamespace(r.Namespace)
	return apply.Change{Action: action, Object: object}, nil
}

func (r Records) call(verb, name string) kube.Call {
	return kube.Call{Verb: verb, Resource: "secrets", Namespace: r.Namespace, Name: name}
}
