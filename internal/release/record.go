package release

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"

	helm "helm.sh/helm/v3/pkg/release"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	typedcorev1 "k8s.io/client-go/kubernetes/typed/core/v1"

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
		WithHint("look at it with `kubectl get secret %s --namespace %s --show-labels`, and delete it, or label it "+
			"owner=helm and name=%s", secret, r.Namespace, name)
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

// Latest is the newest record of a release, nil if there is none: of those that are guarded, if any is. The error
// has ReasonUnreadable if it cannot be read.
func (r Records) Latest(ctx context.Context, name string) (*helm.Release, error) {
	return r.newest(ctx, name, selector(name))
}

// Installed is Latest of the records of what was applied as a whole, nil if there is none.
func (r Records) Installed(ctx context.Context, name string) (*helm.Release, error) {
	return r.newest(ctx, name, selector(name)+",status="+helm.StatusDeployed.String())
}

// All are the records of a release, the newest first. What cannot be read is left out.
func (r Records) All(ctx context.Context, name string) ([]*helm.Release, error) {
	all, _, err := r.History(ctx, name)
	return all, err
}

// Unreadable is a revision whose record cannot be read, and why.
type Unreadable struct {
	Version int // 0 if not even that can be read
	Err     error
}

// History are the records of a release and those of them that cannot be read, the newest first.
func (r Records) History(ctx context.Context, name string) (all []*helm.Release, unreadable []Unreadable, err error) {
	all, unreadable, err = r.some(ctx, name, selector(name), 0)
	slices.Reverse(all)
	slices.Reverse(unreadable)
	return all, unreadable, err
}

// After are the records of the revisions after one that were not applied as a whole, the
// oldest first. What cannot be read is left out: the newest revision counts.
func (r Records) After(ctx context.Context, name string, revision int) ([]*helm.Release, error) {
	releases, _, err := r.some(ctx, name, selector(name)+",status!="+helm.StatusDeployed.String(), revision)
	return releases, err
}

// some are the records that a selector finds, of the revisions after one, the oldest first.
func (r Records) some(ctx context.Context, name, selector string, revision int) (releases []*helm.Release,
	unreadable []Unreadable, err error,
) {
	var secrets []corev1.Secret
	err = r.each(ctx, selector, func(s *corev1.Secret) {
		if version(s) > revision {
			secrets = append(secrets, *s)
		}
	})
	if err != nil {
		return nil, nil, err
	}
	secrets = trusted(secrets)
	slices.SortFunc(secrets, byVersion)
	for i := range secrets {
		release, err := r.open(ctx, &secrets[i], name)
		switch {
		case err == nil:
			releases = append(releases, release)
		case fault.ReasonOf(err) == ReasonUnreadable:
			unreadable = append(unreadable, Unreadable{version(&secrets[i]), err})
		default:
			return nil, nil, err
		}
	}
	return releases, unreadable, nil
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

// atOnce is how many releases are asked for in one request: their names are in its address.
const atOnce = 50

// Newest is the newest record of a release, or why that cannot be read.
type Newest struct {
	Release *helm.Release
	Err     error
}

// Several are the newest records of releases of a namespace, or of all, by namespace and name, in
// a request for every 50 of them. A release without a record is left out.
func Several(ctx context.Context, secrets typedcorev1.SecretsGetter, namespace string,
	names []string,
) (map[types.NamespacedName]Newest, error) {
	listed, all := Records{Secrets: secrets.Secrets(namespace), Namespace: namespace}, map[types.NamespacedName]Newest{}
	for chunk := range slices.Chunk(names, atOnce) {
		newest := map[types.NamespacedName]*corev1.Secret{}
		err := listed.each(ctx, "owner=helm,name in ("+strings.Join(chunk, ",")+")", func(s *corev1.Secret) {
			of := types.NamespacedName{Namespace: s.Namespace, Name: s.Labels["name"]}
			if newest[of] == nil || byTrust(*s, *newest[of]) > 0 {
				one := *s // without the page that it came with
				newest[of] = &one
			}
		})
		if err != nil {
			return nil, err
		}
		for of, secret := range newest {
			// Its chunks are beside it.
			own := Records{Secrets: secrets.Secrets(of.Namespace), Namespace: of.Namespace}
			release, err := own.open(ctx, secret, of.Name)
			all[of] = Newest{release, err}
		}
	}
	return all, nil
}
