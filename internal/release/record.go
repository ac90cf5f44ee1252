package release

import (
	"cmp"
	"context"
	"errors"
	"slices"

	helm "helm.sh/helm/v3/pkg/release"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	typedcorev1 "k8s.io/client-go/kubernetes/typed/core/v1"

	"github.com/berthdev/berth/internal/apply"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/kube"
)

// ErrExists is the error of a record that another process has created.
var ErrExists = errors.New("the release has a record already")

// Taken is the error of a release whose record can be neither created nor found: a
// Secret of its name is not labelled as Helm labels records.
func (r Records) Taken(name string) error {
	secret := key(&helm.Release{Name: name, Version: 1})
	return fault.New(fault.Conflict, "Secret %s/%s exists and is not labelled as Helm's record of release %s",
		r.Namespace, secret, name).
		WithHint("look at it with `kubectl get secret %s --namespace %s --show-labels`, and delete it, or label it owner=helm and name=%s", secret, r.Namespace, name)
}

// Records are Helm's records in one namespace, in Helm's default storage: a Secret
// for each revision.
type Records struct {
	Secrets   typedcorev1.SecretInterface
	Namespace string
	// Owners are the objects with which the cluster deletes what is written; may be empty.
	Owners []metav1.OwnerReference
	// Repair says what can be done about a Secret that cannot be read; nil for the record of
	// a workspace.
	Repair func(secret string) string

	most int // bytes of a record in one Secret; 0 for maxRecord
}

// LabelGuarded is on the record of a workspace. Where there is an admission policy for that,
// only those who may create pods write records that have it, or had it: what is in them
// counts for a loop that starts pods for others.
const LabelGuarded = "berth.dev/guarded"

// IsGuarded is true for a record that has the label, as it was read.
func IsGuarded(release *helm.Release) bool { return release.Labels[LabelGuarded] != "" }

// trusted are the records that count: beside one that is guarded those alone, since anybody who may
// write Secrets can add a revision that is not.
func trusted(all []corev1.Secret) []corev1.Secret {
	unguarded := func(s corev1.Secret) bool { return s.Labels[LabelGuarded] == "" }
	if !slices.ContainsFunc(all, func(s corev1.Secret) bool { return !unguarded(s) }) {
		return all
	}
	return slices.DeleteFunc(slices.Clone(all), unguarded)
}

// page is how many records of a release are read at a time. Helm keeps ten, berth one.
const page = 50

// Latest is the newest record of a release, nil if there is none. The error has
// ReasonUnreadable if it cannot be read.
func (r Records) Latest(ctx context.Context, name string) (*helm.Release, error) {
	return r.newest(ctx, name, selector(name))
}

// Installed is the newest record of what was applied as a whole, nil if there is none.
func (r Records) Installed(ctx context.Context, name string) (*helm.Release, error) {
	return r.newest(ctx, name, selector(name)+",status="+helm.StatusDeployed.String())
}

// All are the records of a release, the newest first. What cannot be read is left out.
func (r Records) All(ctx context.Context, name string) ([]*helm.Release, error) {
	all, err := r.some(ctx, name, selector(name), 0)
	slices.Reverse(all)
	return all, err
}

// After are the records of the revisions after one that were not applied as a whole, the
// oldest first. What cannot be read is left out: the newest revision counts.
func (r Records) After(ctx context.Context, name string, revision int) ([]*helm.Release, error) {
	return r.some(ctx, name, selector(name)+",status!="+helm.StatusDeployed.String(), revision)
}

// some are the records that a selector finds, of the revisions after one, the oldest first.
func (r Records) some(ctx context.Context, name, selector string, revision int) (releases []*helm.Release, err error) {
	var secrets []corev1.Secret
	err = r.each(ctx, selector, func(s *corev1.Secret) {
		if version(s) > revision {
			secrets = append(secrets, *s)
		}
	})
	if err != nil {
		return nil, err
	}
	secrets = trusted(secrets)
	slices.SortFunc(secrets, byVersion)
	for i := range secrets {
		release, err := r.open(ctx, &secrets[i], name)
		if err != nil && fault.ReasonOf(err) != ReasonUnreadable {
			return nil, err
		}
		if err == nil {
			releases = append(releases, release)
		}
	}
	return releases, nil
}

func (r Records) newest(ctx context.Context, name, selector string) (*helm.Release, error) {
	var all []corev1.Secret
	err := r.each(ctx, selector, func(s *corev1.Secret) { all = append(all, *s) })
	if err != nil || len(all) == 0 {
		return nil, err
	}
	latest, last := slices.MaxFunc(all, byTrust), slices.MaxFunc(all, byVersion)
	release, err := r.open(ctx, &latest, name)
	if err == nil && version(&last) > version(&latest) {
		release.Labels[labelLast] = last.Labels["version"]
	}
	return release, err
}

// byTrust orders records by what counts: the newest of those that are trusted is the last.
func byTrust(a, b corev1.Secret) int {
	if isA, isB := a.Labels[LabelGuarded] != "", b.Labels[LabelGuarded] != ""; isA != isB {
		return map[bool]int{true: 1, false: -1}[isA]
	}
	return byVersion(a, b)
}

func byVersion(a, b corev1.Secret) int { return cmp.Compare(version(&a), version(&b)) }

// open reads a record, and the chunks that it is kept in.
func (r Records) open(ctx context.Context, secret *corev1.Secret, name string) (*helm.Release, error) {
	release, err := decode(secret, name)
	if err == nil {
		release, err = r.whole(ctx, release)
	}
	if _, answered := errors.AsType[*fault.Error](err); answered {
		return nil, err
	}
	if err != nil {
		return nil, r.unreadable(secret.Name, name, err)
	}
	remember(release, secret)
	return release, nil
}

// each reads the Secrets that a selector finds, page by page.
func (r Records) each(ctx context.Context, selector string, do func(*corev1.Secret)) error {
	options := metav1.ListOptions{LabelSelector: selector, Limit: page}
	for {
		list, err := r.Secrets.List(ctx, options)
		if err != nil {
			return kube.Fault(err, r.call("list", ""))
		}
		for i := range list.Items {
			do(&list.Items[i])
		}
		if options.Continue = list.Continue; options.Continue == "" {
			return nil
		}
	}
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
