package instance

import (
	"context"
	"maps"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/berthdev/berth/api/bundle/v1alpha1"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/kube"
)

// ensureBundle finds the bundle of the instance's template among its bundles, or makes
// it.
func (p *pass) ensureBundle(ctx context.Context) (*v1alpha1.Bundle, error) {
	b, hash, err := bundleFor(p.in, p.bundles)
	if err != nil {
		return nil, err
	}
	if b != nil {
		return b, p.upload(ctx, b)
	}
	for attempt := range maxAttempts {
		b := p.bundleOf(p.in, hash, attempt)
		err := p.objects().CreateBundle(ctx, b)
		if apierrors.IsAlreadyExists(err) {
			there, err := p.objects().Bundle(ctx, b.Name)
			if err != nil {
				return nil, err
			}
			if there == nil || there.DeletionTimestamp != nil || !isBundleOf(p.in, hash, there) {
				continue // of another template or somebody else, or on its way out
			}
			b = there // another process was faster
		} else if err != nil {
			return nil, kube.Fault(err, call("create", v1alpha1.Bundles(), b.Name))
		}
		p.bundles = append(p.bundles, *b)
		b = &p.bundles[len(p.bundles)-1]
		return b, p.upload(ctx, b)
	}
	return nil, fault.New(fault.Conflict, "there is a bundle of every name that instance %s could give its bundle",
		p.in.Name).
		WithHint("delete bundles that belong to no instance: kubectl get bundles.core.rukpak.io")
}

// bundleFor is the bundle of an instance's template among those that say that they are the
// instance's, nil if there is none, and the hash by which it is found.
func bundleFor(in *v1alpha1.Instance, bundles []v1alpha1.Bundle) (b *v1alpha1.Bundle, hash string, err error) {
	if hash, err = templateHash(in.Spec.Template); err != nil {
		return nil, "", err
	}
	i := slices.IndexFunc(bundles, func(b v1alpha1.Bundle) bool {
		return isBundleOf(in, hash, &b) && b.DeletionTimestamp == nil
	})
	if i < 0 {
		return nil, hash, nil
	}
	return &bundles[i], hash, nil
}

// isBundleOf is true for a bundle that was made for an instance's template, which has this
// hash. Anyone who may create bundles may give theirs any labels, but for the source of the
// template there is only one content; and what is installed as a ServiceAccount comes from a
// bundle that says so, which takes the permission to act as it.
func isBundleOf(in *v1alpha1.Instance, hash string, b *v1alpha1.Bundle) bool {
	return b.Labels[v1alpha1.LabelTemplateHash] == hash && metav1.IsControlledBy(b, in) &&
		same(b.Spec, in.Spec.Template.Spec) &&
		b.Annotations[v1alpha1.AnnotationContent] == in.Spec.Template.Metadata.Annotations[v1alpha1.AnnotationContent] &&
		b.Annotations[v1alpha1.AnnotationServiceAccount] == in.Spec.ServiceAccount.String()
}

// maxAttempts is how many names are tried for a bundle.
const maxAttempts = 5

// upload writes the content of an upload, if this run has it.
func (p *pass) upload(ctx context.Context, b *v1alpha1.Bundle) error {
	if b.Spec.Source.Type != v1alpha1.SourceUpload || p.found.content == nil || p.isUnpacked(b) {
		return nil
	}
	return p.fetcher(b, p.steps).Upload(ctx, p.found.content)
}

// bundleOf is the bundle of an instance's template.
func (r Reconciler) bundleOf(in *v1alpha1.Instance, hash string, attempt int) *v1alpha1.Bundle {
	t := in.Spec.Template
	b := &v1alpha1.Bundle{Spec: t.Spec}
	b.Name = bundleName(in.Name, hash, attempt)
	b.Labels, b.Annotations = map[string]string{}, map[string]string{}
	maps.Copy(b.Labels, t.Metadata.Labels)
	maps.Copy(b.Annotations, t.Metadata.Annotations)
	b.Labels[v1alpha1.LabelOwnerKind], b.Labels[v1alpha1.LabelOwnerName] = v1alpha1.KindInstance, in.Name
	b.Labels[v1alpha1.LabelTemplateHash] = hash
	b.Annotations[v1alpha1.AnnotationSystemNamespace] = r.System
	delete(b.Annotations, v1alpha1.AnnotationServiceAccount)
	if account := in.Spec.ServiceAccount; account != nil {
		b.Annotations[v1alpha1.AnnotationServiceAccount] = account.String()
	}
	b.OwnerReferences = []metav1.OwnerReference{ownedBy(in, true)}
	return b
}

// ownedBy is the reference by which the cluster removes what belongs to an instance
// that is deleted.
func ownedBy(in *v1alpha1.Instance, controller bool) metav1.OwnerReference {
	ref := metav1.OwnerReference{
		APIVersion: v1alpha1.GroupVersion().String(), Kind: v1alpha1.KindInstance,
		Name: in.Name, UID: in.UID,
	}
	if controller {
		ref.Controller = &controller
	}
	return ref
}
