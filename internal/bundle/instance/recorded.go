package instance

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"maps"

	helmchart "helm.sh/helm/v3/pkg/chart"
	helm "helm.sh/helm/v3/pkg/release"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/berthdev/berth/api/bundle/v1alpha1"
	"github.com/berthdev/berth/internal/bundle/format"
	"github.com/berthdev/berth/internal/release"
)

// origin is what a release is made of: a bundle, whose content never changes, and what
// its instance sets. Of the same, no other release is made: a chart may render otherwise
// each time. Objects belong to the very instance.
type origin struct {
	Instance  types.UID `json:"instance"`
	Bundle    types.UID `json:"bundle"`
	Class     string    `json:"class"`
	Namespace string    `json:"namespace"`
	Values    string    `json:"values"`
}

// annotationOrigin has the hash of the origin, in the chart of the record: with
// `helm rollback` it goes along with the manifest.
const annotationOrigin = "berth.dev/origin"

func (o origin) hash() string {
	text, _ := json.Marshal(o) // plain fields: cannot fail
	sum := sha256.Sum256(text)
	return "sha256:" + hex.EncodeToString(sum[:])
}

// originOf is that of a release of a bundle of an instance.
func (r Reconciler) originOf(in *v1alpha1.Instance, b *v1alpha1.Bundle, class string, c v1alpha1.Config) origin {
	return origin{Instance: in.UID, Bundle: b.UID, Class: class, Namespace: r.namespaceOf(c), Values: c.Values}
}

// from is a copy of a chart that says what its release is made of.
func (o origin) from(c *helmchart.Chart) *helmchart.Chart {
	chart, metadata := *c, *c.Metadata
	metadata.Annotations = maps.Clone(metadata.Annotations)
	if metadata.Annotations == nil {
		metadata.Annotations = map[string]string{}
	}
	metadata.Annotations[annotationOrigin] = o.hash()
	chart.Metadata = &metadata
	return &chart
}

// originIn is the hash of the origin of a release; empty if its record does not have it.
func originIn(r *helm.Release) string {
	if r == nil || r.Chart == nil || r.Chart.Metadata == nil {
		return ""
	}
	return r.Chart.Metadata.Annotations[annotationOrigin]
}

// recorded is what is deployed, as the package that it was made of; nil if the newest
// record is not that, or if something else is wanted.
func recorded(current *helm.Release, wanted origin) (*format.Package, error) {
	if originIn(current) != wanted.hash() || current.Info.Status != helm.StatusDeployed {
		return nil, nil
	}
	objects, err := release.Objects(current.Manifest)
	if err != nil {
		return nil, err
	}
	p := &format.Package{Format: formatOf(wanted.Class), Objects: objects, Notes: current.Info.Notes, Recorded: true}
	if p.Format != format.Plain {
		p.Name, p.Version = current.Chart.Metadata.Name, current.Chart.Metadata.Version
	}
	return p, nil
}

// recorded is what is deployed of a bundle, if nothing else is wanted. Neither the
// content of the bundle nor its templates are asked for it then.
func (p *pass) recorded(b *v1alpha1.Bundle, current *helm.Release) (*format.Package, error) {
	c, err := config(p.in)
	if err != nil || IsOurs(b.Spec.ProvisionerClassName) && !p.isUnpacked(b) ||
		ofBundle(b).status != metav1.ConditionTrue {
		return nil, nil //nolint:nilerr // it is said where the content is read
	}
	return recorded(current, p.originOf(p.in, b, p.in.Spec.ProvisionerClassName, c))
}
