package instance

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	helmchart "helm.sh/helm/v3/pkg/chart"
	helm "helm.sh/helm/v3/pkg/release"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/berthdev/berth/api/bundle/v1alpha1"
	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/bundle/format"
	"github.com/berthdev/berth/internal/bundle/resource"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/release"
)

// provenance is what a revision was made of, as far as it takes to have the same again once its bundle is gone.
type provenance struct {
	Bundle string `json:"bundle"`
	// Class is that of the bundle.
	Class string `json:"class"`
	// Source is as it was asked for, and Resolved what exactly that was.
	Source   v1alpha1.Source `json:"source"`
	Resolved v1alpha1.Source `json:"resolved"`
	Digest   string          `json:"digest,omitempty"`
	// Namespace is that of objects which name none, as the instance says it.
	Namespace string `json:"namespace,omitempty"`
	// Format is what the content was read as, if the instance says it.
	Format string `json:"format,omitempty"`
	// Watch are the namespaces that an operator was told to watch.
	Watch []string `json:"watch,omitempty"`
	// Charts are the versions of what the chart depends on, as PATH VERSION.
	Charts []string `json:"charts,omitempty"`
}

// annotationMadeOf has the provenance, in the chart of the record like the origin.
const annotationMadeOf = "berth.dev/made-of"

// provenanceOf is that of a release of a bundle.
func provenanceOf(b *v1alpha1.Bundle, c v1alpha1.Config) provenance {
	p := provenance{
		Bundle: b.Name, Class: b.Spec.ProvisionerClassName, Source: b.Spec.Source, Resolved: b.Spec.Source,
		Digest: resource.DigestOf(b), Namespace: c.Namespace, Format: c.Format,
		Watch: c.WatchNamespaces,
	}
	if b.Status.ResolvedSource != nil {
		p.Resolved = *b.Status.ResolvedSource
	}
	return p
}

// provenanceIn is what a record says that it was made of; nil if it does not.
func provenanceIn(r *helm.Release) *provenance {
	if r.Chart == nil || r.Chart.Metadata == nil {
		return nil
	}
	p := &provenance{}
	if json.Unmarshal([]byte(r.Chart.Metadata.Annotations[annotationMadeOf]), p) != nil {
		return nil
	}
	return p
}

// noVersion is the version in the record of a bundle that has none.
const noVersion = "0.0.0"

// origin is what a release is made of: a bundle, whose content never changes, and what
// its instance sets. Of the same, no other release is made: a chart may render otherwise
// each time. Objects belong to the very instance.
type origin struct {
	Instance  types.UID `json:"instance"`
	Bundle    types.UID `json:"bundle"`
	Class     string    `json:"class"`
	Namespace string    `json:"namespace"`
	Values    string    `json:"values"`
	Watch     []string  `json:"watch,omitempty"`

	// made is the bundle in words, and says nothing that the above does not.
	made provenance
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
	return origin{
		Instance: in.UID, Bundle: b.UID, Class: class, Namespace: r.namespaceOf(c), Values: c.Values,
		Watch: c.WatchNamespaces,
		made:  provenanceOf(b, c),
	}
}

// from is a copy of a chart that says what its release is made of: as a hash, and in words.
func (o origin) from(c *helmchart.Chart) *helmchart.Chart {
	chart, metadata := *c, *c.Metadata
	metadata.Annotations = maps.Clone(metadata.Annotations)
	if metadata.Annotations == nil {
		metadata.Annotations = map[string]string{}
	}
	made, _ := json.Marshal(o.made) // plain fields: cannot fail
	metadata.Annotations[annotationOrigin], metadata.Annotations[annotationMadeOf] = o.hash(), string(made)
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

// Moved says which charts that a chart depends on are other ones than in what is recorded last, and which.
func (k Snapshot) Moved(p *format.Package) (moved []string) {
	if k.Release == nil || p == nil || p.Recorded || p.Format != format.Helm {
		return nil
	}
	made := provenanceIn(k.Release)
	if made == nil || len(made.Charts) == 0 {
		return nil
	}
	before, now := versions(made.Charts), versions(p.Charts)
	for _, name := range slices.Sorted(maps.Keys(before)) {
		switch then, is := now[name]; {
		case !is:
			moved = append(moved, name+" "+before[name]+" is gone")
		case then != before[name]:
			moved = append(moved, name+" "+before[name]+" → "+then)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(now)) {
		if _, was := before[name]; !was {
			moved = append(moved, name+" "+now[name]+" is new")
		}
	}
	return moved
}

// versions are those of charts by their paths; of two of one path, both.
func versions(charts []string) map[string]string {
	all := map[string]string{}
	for _, c := range charts {
		name, version, _ := strings.Cut(c, " ")
		all[name] = strings.TrimPrefix(all[name]+" and "+version, " and ")
	}
	return all
}

// isWhole is true for a revision that was applied as a whole.
func isWhole(r *helm.Release) bool {
	return r.Info.Status == helm.StatusDeployed || r.Info.Status == helm.StatusSuperseded
}

// revisionOf is a record as it is shown.
func revisionOf(r *helm.Release) (v1.BundleRevision, error) {
	objects, err := release.Objects(r.Manifest)
	v := v1.BundleRevision{
		Revision: r.Version, Status: r.Info.Status.String(), At: r.Info.LastDeployed.Time.UTC(), Objects: len(objects),
	}
	if r.Chart != nil && r.Chart.Metadata != nil {
		if m := r.Chart.Metadata; m.Name != r.Name || m.Version != noVersion {
			v.Package, v.Version = m.Name, m.Version
		}
	}
	if p := provenanceIn(r); p != nil {
		v.Bundle, v.Source, v.Digest = p.Bundle, resource.Describe(p.Source), p.Digest
		v.Dependencies = p.Charts
	}
	if !isWhole(r) {
		v.Message = r.Info.Description
	}
	return v, err
}

// isOfChart is true for a record with anything of a chart; it never has the charts within it.
func isOfChart(record *helm.Release) bool {
	c := record.Chart
	return len(record.Config) > 0 || len(record.Hooks) > 0 || c != nil && (len(c.Templates) > 0 || len(c.Values) > 0 ||
		len(c.Files) > 0 || c.Metadata != nil && len(c.Metadata.Dependencies) > 0)
}

// objectsOf are the objects of a record without what ties them to the instance.
func objectsOf(record *helm.Release, in *v1alpha1.Instance) ([]*unstructured.Unstructured, error) {
	objects, err := release.Objects(record.Manifest)
	for _, object := range objects {
		others := slices.DeleteFunc(object.GetOwnerReferences(), func(ref metav1.OwnerReference) bool {
			return ref.UID == in.UID
		})
		if len(others) == 0 {
			others = nil
		}
		object.SetOwnerReferences(others)
	}
	return objects, err
}

// passedOver is the error about a choice of a revision, nil for no revision, beside a record that cannot be read and
// may be the one that is meant.
func passedOver(name string, chosen *helm.Release, asked int, unreadable []release.Unreadable) error {
	for _, u := range unreadable {
		switch {
		case asked == u.Version && asked != 0:
			return u.Err
		case asked == 0 && (chosen == nil || u.Version > chosen.Version):
			return fault.New(fault.Failed, "revision %d of bundle %s may be what was installed before, and cannot be "+
				"read: %w", u.Version, name, fault.From(u.Err)).
				WithReason(release.ReasonUnreadable).
				WithHint("name the revision to install: `berth bundle history %s` shows what can be read", name)
		}
	}
	return nil
}
