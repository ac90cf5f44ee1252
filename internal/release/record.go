package release

import (
	"context"
	"errors"
	"fmt"

	helm "helm.sh/helm/v3/pkg/release"
	"helm.sh/helm/v3/pkg/storage/driver"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	typedcorev1 "k8s.io/client-go/kubernetes/typed/core/v1"

	"github.com/berthdev/berth/internal/kube"
)

// ErrExists says that somebody else made a record of that name meanwhile.
var ErrExists = driver.ErrReleaseExists

// Records are Helm's records in one namespace, kept the way Helm keeps them by
// default: a Secret a revision.
type Records struct {
	Secrets   typedcorev1.SecretInterface
	Namespace string
}

// Latest is the newest record of a release, nil if there is none.
func (r Records) Latest(ctx context.Context, name string) (*helm.Release, error) {
	found, err := r.driver(ctx).Query(map[string]string{"owner": "helm", "name": name})
	if errors.Is(err, driver.ErrReleaseNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, kube.Fault(err, r.call("list", ""))
	}
	var latest *helm.Release
	for _, release := range found {
		if latest == nil || release.Version > latest.Version {
			latest = release
		}
	}
	return latest, nil
}

// Create makes a record; ErrExists if there is one of that revision.
func (r Records) Create(ctx context.Context, release *helm.Release) error {
	err := r.driver(ctx).Create(key(release), release)
	if errors.Is(err, driver.ErrReleaseExists) {
		return ErrExists
	}
	return kube.Fault(err, r.call("create", key(release)))
}

// Update writes a record again.
func (r Records) Update(ctx context.Context, release *helm.Release) error {
	return kube.Fault(r.driver(ctx).Update(key(release), release), r.call("update", key(release)))
}

// Names are those of the Secrets that are a release's records.
func (r Records) Names(ctx context.Context, name string) (names []string, err error) {
	list, err := r.Secrets.List(ctx, metav1.ListOptions{LabelSelector: "owner=helm,name=" + name})
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

// Plan is the Secret that Create, or Update if there is one, would write. With
// server set it is sent to the API server, to be checked and not to be kept.
func (r Records) Plan(ctx context.Context, release *helm.Release, exists, server bool) (Change, error) {
	dry := &dryRun{SecretInterface: r.Secrets, server: server}
	r.Secrets = dry
	action, write := ActionCreate, r.Create
	if exists {
		action, write = ActionUpdate, r.Update
	}
	if err := write(ctx, release); err != nil {
		return Change{}, err
	}
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(dry.written)
	if err != nil {
		return Change{}, fmt.Errorf("record of %s: %w", release.Name, err)
	}
	object := &unstructured.Unstructured{Object: content}
	object.SetAPIVersion("v1")
	object.SetKind("Secret")
	object.SetNamespace(r.Namespace)
	return Change{action, object}, nil
}

// dryRun keeps what is written from being kept.
type dryRun struct {
	typedcorev1.SecretInterface
	server  bool
	written *corev1.Secret
}

func (d *dryRun) Create(ctx context.Context, s *corev1.Secret, o metav1.CreateOptions) (made *corev1.Secret, err error) {
	if d.written = s; d.server {
		o.DryRun = []string{metav1.DryRunAll}
		d.written, err = d.SecretInterface.Create(ctx, s, o)
	}
	return d.written, err
}

func (d *dryRun) Update(ctx context.Context, s *corev1.Secret, o metav1.UpdateOptions) (made *corev1.Secret, err error) {
	if d.written = s; d.server {
		o.DryRun = []string{metav1.DryRunAll}
		d.written, err = d.SecretInterface.Update(ctx, s, o)
	}
	return d.written, err
}

func key(release *helm.Release) string {
	return fmt.Sprintf("sh.helm.release.v1.%s.v%d", release.Name, release.Version)
}

func (r Records) call(verb, name string) kube.Call {
	return kube.Call{Verb: verb, Resource: "secrets", Namespace: r.Namespace, Name: name}
}

func (r Records) driver(ctx context.Context) *driver.Secrets {
	d := driver.NewSecrets(withContext{r.Secrets, ctx})
	d.Log = func(string, ...any) {}
	return d
}

// withContext gives Helm's driver, which knows no contexts, the one of the
// call that uses it.
type withContext struct {
	typedcorev1.SecretInterface
	ctx context.Context //nolint:containedctx // lives as long as one call of the driver
}

func (w withContext) List(_ context.Context, o metav1.ListOptions) (*corev1.SecretList, error) {
	return w.SecretInterface.List(w.ctx, o)
}

func (w withContext) Create(_ context.Context, s *corev1.Secret, o metav1.CreateOptions) (*corev1.Secret, error) {
	return w.SecretInterface.Create(w.ctx, s, o)
}

func (w withContext) Update(_ context.Context, s *corev1.Secret, o metav1.UpdateOptions) (*corev1.Secret, error) {
	return w.SecretInterface.Update(w.ctx, s, o)
}
