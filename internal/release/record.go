package release

import (
	"context"
	"errors"
	"fmt"

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

// ErrExists says that somebody else made a record of that name meanwhile.
var ErrExists = errors.New("the release has a record already")

// Records are Helm's records in one namespace, kept the way Helm keeps them by
// default: a Secret a revision.
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

// Create makes a record; ErrExists if there is one of that revision.
func (r Records) Create(ctx context.Context, release *helm.Release) error {
	_, err := r.create(ctx, release, nil)
	return err
}

func (r Records) create(ctx context.Context, release *helm.Release, dryRun []string) (*corev1.Secret, error) {
	secret, err := encode(release, createdAt)
	if err != nil {
		return nil, err
	}
	secret, err = r.Secrets.Create(ctx, secret, metav1.CreateOptions{DryRun: dryRun})
	if apierrors.IsAlreadyExists(err) {
		return nil, ErrExists
	}
	return secret, kube.Fault(err, r.call("create", key(release)))
}

// Update writes a record again.
func (r Records) Update(ctx context.Context, release *helm.Release) error {
	_, err := r.update(ctx, release, nil)
	return err
}

func (r Records) update(ctx context.Context, release *helm.Release, dryRun []string) (*corev1.Secret, error) {
	secret, err := encode(release, modifiedAt)
	if err != nil {
		return nil, err
	}
	secret, err = r.Secrets.Update(ctx, secret, metav1.UpdateOptions{DryRun: dryRun})
	return secret, kube.Fault(err, r.call("update", key(release)))
}

// Names are those of the Secrets that are a release's records.
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
	// One by one: whoever may uninstall with helm may do so here, and helm asks
	// for no more than the verb delete.
	for _, secret := range secrets {
		if err := r.Secrets.Delete(ctx, secret, metav1.DeleteOptions{}); err != nil && !apierrors.IsNotFound(err) {
			return kube.Fault(err, r.call("delete", secret))
		}
	}
	return nil
}

// Write creates a record, or updates the one that exists, and returns the Secret.
// ErrExists if there is one that is not to be updated. A dry run keeps nothing.
func (r Records) Write(ctx context.Context, release *helm.Release, exists bool, dry apply.DryRun) (apply.Change, error) {
	action, stamp, send := apply.Created, createdAt, r.create
	if exists {
		action, stamp, send = apply.Updated, modifiedAt, r.update
	}
	secret, err := encode(release, stamp)
	switch dry {
	case apply.DryRunNone:
		secret, err = send(ctx, release, nil)
	case apply.DryRunServer:
		secret, err = send(ctx, release, []string{metav1.DryRunAll})
	}
	if err != nil {
		return apply.Change{}, err
	}
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(secret)
	if err != nil {
		return apply.Change{}, fmt.Errorf("record of %s: %w", release.Name, err)
	}
	object := &unstructured.Unstructured{Object: content}
	object.SetAPIVersion("v1")
	object.SetKind("Secret")
	object.SetNamespace(r.Namespace)
	return apply.Change{Action: action, Object: object}, nil
}

func (r Records) call(verb, name string) kube.Call {
	return kube.Call{Verb: verb, Resource: "secrets", Namespace: r.Namespace, Name: name}
}
