package resource

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/base32"
	"encoding/hex"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/berthdev/berth/api/bundle/v1alpha1"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/kube"
)

// DigestOf is that of the content of a bundle: as it was unpacked, and until then as the
// bundle says.
func DigestOf(b *v1alpha1.Bundle) string {
	return cmp.Or(b.Status.Digest, b.Annotations[v1alpha1.AnnotationContent])
}

// ChartsOf are the versions of what its chart depends on that a bundle asks for, as PATH VERSION.
func ChartsOf(b *v1alpha1.Bundle) []string {
	text := b.Annotations[v1alpha1.AnnotationCharts]
	if text == "" {
		return nil
	}
	return strings.Split(text, ",")
}

// EnsureBundle finds the bundle of an instance's template among its bundles, or makes it.
func (o Objects) EnsureBundle(ctx context.Context, in *v1alpha1.Instance, bundles []v1alpha1.Bundle,
	system string,
) (b *v1alpha1.Bundle, made bool, err error) {
	b, hash, err := BundleFor(in, bundles)
	if b != nil || err != nil {
		return b, false, err
	}
	for attempt := range maxAttempts {
		b := NewBundle(in, hash, attempt, system)
		err := o.CreateBundle(ctx, b)
		if apierrors.IsAlreadyExists(err) {
			there, err := o.Bundle(ctx, b.Name)
			if err != nil {
				return nil, false, err
			}
			if there == nil || there.DeletionTimestamp != nil || !isBundleOf(in, hash, there) {
				continue // of another template or somebody else, or on its way out
			}
			b = there // another process was faster
		} else if err != nil {
			return nil, false, kube.Fault(err, Call("create", v1alpha1.Bundles(), b.Name))
		}
		return b, true, nil
	}
	return nil, false, fault.New(fault.Conflict, "there is a bundle of every name that instance %s "+
		"could give its bundle", in.Name).
		WithHint("delete bundles that belong to no instance: kubectl get bundles.core.rukpak.io")
}

// BundleFor is the bundle of an instance's template among those that say that they are the
// instance's, nil if there is none, and the hash by which it is found.
func BundleFor(in *v1alpha1.Instance, bundles []v1alpha1.Bundle) (b *v1alpha1.Bundle, hash string, err error) {
	if hash, err = TemplateHash(in.Spec.Template); err != nil {
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
	template := in.Spec.Template
	return b.Labels[v1alpha1.LabelTemplateHash] == hash && metav1.IsControlledBy(b, in) &&
		Same(b.Spec, template.Spec) &&
		b.Annotations[v1alpha1.AnnotationContent] == template.Metadata.Annotations[v1alpha1.AnnotationContent] &&
		b.Annotations[v1alpha1.AnnotationServiceAccount] == in.Spec.ServiceAccount.String()
}

// maxAttempts is how many names are tried for a bundle.
const maxAttempts = 5

// NewBundle is the bundle of an instance's template.
func NewBundle(in *v1alpha1.Instance, hash string, attempt int, system string) *v1alpha1.Bundle {
	t := in.Spec.Template
	b := &v1alpha1.Bundle{Spec: t.Spec}
	b.Name = bundleName(in.Name, hash, attempt)
	b.Labels, b.Annotations = map[string]string{}, map[string]string{}
	maps.Copy(b.Labels, t.Metadata.Labels)
	maps.Copy(b.Annotations, t.Metadata.Annotations)
	b.Labels[v1alpha1.LabelOwnerKind], b.Labels[v1alpha1.LabelOwnerName] = v1alpha1.KindInstance, in.Name
	b.Labels[v1alpha1.LabelTemplateHash] = hash
	b.Annotations[v1alpha1.AnnotationSystemNamespace] = system
	delete(b.Annotations, v1alpha1.AnnotationServiceAccount)
	if account := in.Spec.ServiceAccount; account != nil {
		b.Annotations[v1alpha1.AnnotationServiceAccount] = account.String()
	}
	b.OwnerReferences = []metav1.OwnerReference{OwnerReference(in, true)}
	return b
}

// TemplateHash tells templates apart: of their JSON, in which keys are sorted, so that
// every version of every program on every machine gets the same.
func TemplateHash(t v1alpha1.Template) (string, error) {
	text, err := json.Marshal(t)
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:20]), nil // 40 characters fit into a label
}

// bundleName names the bundle of a template. Two templates can have one name, as only six
// characters are left for the hash: then the next attempt has another one.
func bundleName(instance, hash string, attempt int) string {
	sum := sha256.Sum256([]byte(hash + strings.Repeat("+", attempt)))
	text := strings.ToLower(base32.StdEncoding.EncodeToString(sum[:]))
	short := text[:v1alpha1.MaxBundleName-v1alpha1.MaxInstanceName-1]
	return instance + "-" + short
}
