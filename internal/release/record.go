package release

import (
	"context"
	"errors"

	helm "helm.sh/helm/v3/pkg/release"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	typedcorev1 "k8s.io/client-go/kubernetes/typed/core/v1"

	"github.com/berthdev/berth/internal/apply"
	"github.com/berthdev/berth/internal/kube"
)

// ErrExists is the error of a record that has been created by somebody else.
var ErrExists = errors.New("the release has a record already")

// Records are Helm's records in one namespace, in Helm's default storage: a Secret
// for each revision.
type Records struct {
	Secrets   typedcorev1.SecretInterface
	Namespace string
}

// Latest is the newest record of a release, nil if there is none.
func (r Records) Latest(ctx context.Context, name string) (*helm.Release, error) {
	list, err := r.Secrets.List(ctx, metav1.ListOptions{LabelSelector: selector(name)})
	if err != nil {
		return nil, kube.Fault(err, r.call("list", ""))
	}
	var latest *helm.Release
	for i := range list.Items {
		release, err := decode(&list.Items[i])
		if err == nil && (latest == nil || release.Version > latest.Version) { // as Helm, which skips what it cannot read
			latest = release
		}
	}
	return latest, nil
}

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
func (r Records) Write(ctx context.Context, release *helm.Release, exists bool, dry apply.DryRun) (apply.Change, error) {
	change, stamp, send := apply.Change{Action: apply.Created}, createdAt, r.create
	if exists {
		change.Action, stamp, send = apply.Updated, modifiedAt, r.update
	}
	secret, err := encode(release, stamp)
	if err == nil && dry != apply.DryRunClient {
		secret, err = send(ctx, secret, dry)
	}
	if err != nil {
		return apply.Change{}, err
	}
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(secret)
	change.Object = &unstructured.Unstructured{Object: content}
	change.Object.SetAPIVersion("v1")
	change.Object.SetKind("Secret")
	change.Object.SetNamespace(r.Namespace)
	return change, err
}

func (r Records) create(ctx context.Context, secret *corev1.Secret, dry apply.DryRun) (*corev1.Secret, error) {
	made, err := r.Secrets.Create(ctx, secret, metav1.CreateOptions{DryRun: dry.Options()})
	if apierrors.IsAlreadyExists(err) {
		return nil, ErrExists
	}
	return made, kube.Fault(err, r.call("create", secret.Name))
}

func (r Records) update(ctx context.Context, secret *corev1.Secret, dry apply.DryRun) (*corev1.Secret, error) {
	made, err := r.Secrets.Update(ctx, secret, metav1.UpdateOptions{DryRun: dry.Options()})
	return made, kube.Fault(err, r.call("update", secret.Name))
}

// Names are the names of the Secrets with a release's records.
func (r Records) Names(ctx context.Context, name string) (names []string, err error) {
	list, err := r.Secrets.List(ctx, metav1.ListOptions{LabelSelector: selector(name)})
	if err != nil {
		return nil, kube.Fault(err, r.call("list", ""))
	}
	for i := range list.Items {
		names = append(names, list.Items[i].Name)
	}
	return names, nil
}

// Purge removes every record of a release.
func (r Records) Purge(ctx context.Context, name string) error {
	secrets, err := r.Names(ctx, name)
	if err != nil {
		return err
	}
	// One by one: like helm uninstall, this takes no more than the verb delete.
	for _, secret := range secrets {
		if err := r.Secrets.Delete(ctx, secret, metav1.DeleteOptions{}); err != nil && !apierrors.IsNotFound(err) {
			return kube.Fault(err, r.call("delete", secret))
		}
	}
	return nil
}

func (r Records) call(verb, name string) kube.Call {
	return kube.Call{Verb: verb, Resource: "secrets", Namespace: r.Namespace, Name: name}
}
