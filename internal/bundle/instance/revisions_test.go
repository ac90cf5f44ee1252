package instance

import (
	"reflect"
	"strings"
	"testing"

	helmchart "helm.sh/helm/v3/pkg/chart"
	helm "helm.sh/helm/v3/pkg/release"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/berthdev/berth/api/bundle/v1alpha1"
	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/bundle/content"
	"github.com/berthdev/berth/internal/bundle/format"
	"github.com/berthdev/berth/internal/bundle/resource"
	"github.com/berthdev/berth/internal/bundle/source"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/release"
)

// Without a revision, what was installed before the newest attempt is meant; only what was installed as a whole can be
// had again.
func TestChoose(t *testing.T) {
	const deployed, superseded, failed = helm.StatusDeployed, helm.StatusSuperseded, helm.StatusFailed
	for name, test := range map[string]struct {
		newestFirst []helm.Status
		revision    int
		want        int
		code        fault.Code
	}{
		"the one before":               {[]helm.Status{deployed, superseded, superseded}, 0, 2, ""},
		"an attempt is passed over":    {[]helm.Status{deployed, failed, superseded}, 0, 1, ""},
		"the newest is an attempt":     {[]helm.Status{failed, deployed, superseded}, 0, 2, ""},
		"the newest is cut off":        {[]helm.Status{helm.StatusPendingUpgrade, deployed}, 0, 1, ""},
		"one is named":                 {[]helm.Status{deployed, superseded, superseded}, 1, 1, ""},
		"that which is installed is":   {[]helm.Status{deployed, superseded}, 2, 2, ""},
		"an attempt is named":          {[]helm.Status{deployed, failed, superseded}, 2, 0, fault.InvalidArgument},
		"one that is not there":        {[]helm.Status{deployed}, 2, 0, fault.NotFound},
		"nothing was installed before": {[]helm.Status{deployed}, 0, 0, fault.NotFound},
		"there was none before":        {[]helm.Status{deployed, failed}, 0, 0, fault.NotFound},
		"nothing is recorded":          {nil, 0, 0, fault.NotFound},
	} {
		t.Run(name, func(t *testing.T) {
			var records []*helm.Release
			for i, status := range test.newestFirst {
				records = append(records, &helm.Release{
					Version: len(test.newestFirst) - i, Info: &helm.Info{Status: status, Description: "d"},
				})
			}
			got, err := choose("shop", records, test.revision, false)
			if test.code != "" {
				if fault.CodeOf(err) != test.code || fault.From(err).Hint == "" {
					t.Errorf("%v", err)
				}
				return
			}
			if err != nil || got.Version != test.want {
				t.Errorf("%+v, %v, want %d", got, err, test.want)
			}
		})
	}
}

// To go back again after an attempt that had what an earlier revision has is ambiguous. Of an instance that wants what
// is not recorded, the newest record is what to go back to.
func TestChooseAfterAnAttempt(t *testing.T) {
	record := func(version int, status helm.Status, digest string) *helm.Release {
		made := origin{made: provenance{Bundle: "shop-" + digest, Digest: digest}}
		return &helm.Release{
			Version: version, Info: &helm.Info{Status: status}, Chart: made.from(release.Plain("shop", noVersion)),
		}
	}
	first, second := record(1, helm.StatusSuperseded, "a"), record(2, helm.StatusDeployed, "b")
	cut, refused := record(3, helm.StatusPendingUpgrade, "a"), record(3, helm.StatusFailed, "c")
	for name, test := range map[string]struct {
		newestFirst []*helm.Release
		revision    int
		behind      bool
		want        *helm.Release
		says        string
	}{
		"a rollback that was cut off": {
			[]*helm.Release{cut, second, first},
			0, false, nil,
			"revision 3 of bundle shop was not installed as a whole, and has what revision 1 has",
		},
		"it is named":              {[]*helm.Release{cut, second, first}, 1, false, first, ""},
		"the one before is named":  {[]*helm.Release{cut, second, first}, 2, false, second, ""},
		"an upgrade that failed":   {[]*helm.Release{refused, second, first}, 0, false, second, ""},
		"one that was never begun": {[]*helm.Release{second, first}, 0, true, second, ""},
		"nothing was tried":        {[]*helm.Release{second, first}, 0, false, first, ""},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := choose("shop", test.newestFirst, test.revision, test.behind)
			if got != test.want || test.says != "" && !strings.Contains(err.Error(), test.says) {
				t.Errorf("%+v, %v", got, err)
			}
		})
	}
}

// An instance whose bundle is not what the newest record was made of wants what was never applied.
func TestIsBehind(t *testing.T) {
	in := with("example.com/a:v2", 1)
	_, hash, err := resource.BundleFor(in, nil)
	if err != nil {
		t.Fatal(err)
	}
	wanted := resource.NewBundle(in, hash, 0, "ns")
	of := func(bundle string) []*helm.Release {
		made := origin{made: provenance{Bundle: bundle}}
		return []*helm.Release{{Chart: made.from(release.Plain("shop", noVersion))}}
	}
	for name, test := range map[string]struct {
		bundles []v1alpha1.Bundle
		records []*helm.Release
		want    bool
	}{
		"applied":                    {[]v1alpha1.Bundle{*wanted}, of(wanted.Name), false},
		"unpacked and never applied": {[]v1alpha1.Bundle{*wanted}, of("shop-before"), true},
		"never unpacked":             {nil, of("shop-before"), true},
		"recorded by another helm":   {nil, []*helm.Release{{}}, false},
		"not recorded":               {nil, nil, false},
	} {
		if got := isBehind(Snapshot{Instance: in, Bundles: test.bundles}, test.records); got != test.want {
			t.Errorf("%s: %t", name, got)
		}
	}
}

// A record says in words what it was made of; one of an earlier berth, or of helm, says what it can.
func TestRevisionOf(t *testing.T) {
	in := with("example.com/a:v1", 1)
	b := &v1alpha1.Bundle{Spec: in.Spec.Template.Spec}
	b.Name, b.Status.Digest = "shop-1", "sha256:1"
	r := Reconciler{System: "ns"}
	made := r.originOf(in, b, v1alpha1.ClassPlain, v1alpha1.Config{Namespace: "team"})
	plain, web := release.Plain("shop", noVersion), &helmchart.Chart{
		Metadata: &helmchart.Metadata{Name: "web", Version: "1.2.3"},
	}
	for name, test := range map[string]struct {
		chart  *helmchart.Chart
		status helm.Status
		want   v1.BundleRevision
	}{
		"of manifests": {made.from(plain), helm.StatusDeployed, v1.BundleRevision{
			Bundle: "shop-1", Source: "oci://example.com/a:v1", Digest: "sha256:1",
		}},
		"of a chart": {made.from(web), helm.StatusSuperseded, v1.BundleRevision{
			Bundle: "shop-1", Source: "oci://example.com/a:v1", Digest: "sha256:1", Package: "web", Version: "1.2.3",
		}},
		"of an earlier berth": {plain, helm.StatusSuperseded, v1.BundleRevision{}},
		"of helm":             {web, helm.StatusDeployed, v1.BundleRevision{Package: "web", Version: "1.2.3"}},
		"of an attempt":       {plain, helm.StatusFailed, v1.BundleRevision{Message: "because"}},
		"of no chart":         {nil, helm.StatusDeployed, v1.BundleRevision{}},
	} {
		record := &helm.Release{
			Name: "shop", Version: 3, Chart: test.chart, Info: &helm.Info{Status: test.status, Description: "because"},
			Manifest: "---\n{apiVersion: v1, kind: ConfigMap, metadata: {name: a}}\n",
		}
		want := test.want
		want.Revision, want.Status, want.Objects = 3, string(test.status), 1
		want.At = record.Info.LastDeployed.Time.UTC()
		if got, err := revisionOf(record); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
}

// What was fetched is had again from there, if it is the same; what another program has unpacked comes from the record,
// as it was applied and without what ties it to the instance.
func TestEarlier(t *testing.T) {
	const text = "{apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: team}}\n"
	in := with("", 1)
	in.Spec.Template.Spec.Source = v1alpha1.Source{
		Type: v1alpha1.SourceConfigMaps, ConfigMaps: []v1alpha1.ConfigMapSource{
			{ConfigMap: v1alpha1.LocalReference{Name: "content"}, Path: "manifests"},
		},
	}
	for name, test := range map[string]struct {
		class, digest   string
		chart, restored bool
		says            string
	}{
		"from its source": {class: v1alpha1.ClassPlain},
		"the source has moved": {
			class: v1alpha1.ClassPlain, digest: "sha256:0", says: "its content was sha256:0 and is ",
		},
		"of another program": {class: "theirs", restored: true},
		"of another program, a chart": {
			class: "theirs", chart: true, says: "it is a chart, and its record does not say what it was made of",
		},
	} {
		t.Run(name, func(t *testing.T) {
			r, _ := fakeCluster(t, in, nil)
			immutable := true
			_, err := r.Own.CoreV1().ConfigMaps("ns").Create(t.Context(), &corev1.ConfigMap{
				ObjectMeta: metav1.ObjectMeta{Name: "content"}, Immutable: &immutable,
				Data: map[string]string{"a.yaml": text},
			}, metav1.CreateOptions{})
			if err != nil {
				t.Fatal(err)
			}
			r.Fetcher = source.Fetcher{
				Cluster: &source.Cluster{Client: r.Own.CoreV1(), Namespace: "ns"},
				Cache:   content.NewCache(t.TempDir(), 1<<20), Limits: content.DefaultLimits(),
			}
			b := &v1alpha1.Bundle{Spec: in.Spec.Template.Spec}
			b.Spec.ProvisionerClassName, b.Status.Digest = test.class, test.digest
			objects, err := release.Objects(text)
			if err != nil {
				t.Fatal(err)
			}
			from := r.originOf(in, b, test.class, v1alpha1.Config{Namespace: "team"})
			pkg := &format.Package{}
			if test.chart {
				pkg.Chart = &helmchart.Chart{
					Metadata: &helmchart.Metadata{}, Templates: []*helmchart.File{{Name: "templates/a.yaml"}},
				}
			}
			record, err := nextRelease("shop", "ns", from, pkg, owned(in, objects), nil, r.Now())
			if err == nil {
				err = r.records().Create(t.Context(), record)
			}
			if err == nil {
				err = r.records().Succeeded(t.Context(), record, keptRevisions, r.Now())
			}
			if err != nil {
				t.Fatal(err)
			}
			q, err := r.Earlier(t.Context(), "shop", 1, Snapshot{Instance: in}, quiet())
			if test.says != "" {
				if fault.CodeOf(err) != fault.Failed || !strings.Contains(err.Error(), test.says) ||
					!strings.Contains(fault.From(err).Hint, "berth bundle install shop") {
					t.Errorf("%v", err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			defer q.Content.Close()
			p, err := format.Load(t.Context(), q.Content.FS(), format.Options{})
			if err != nil || len(p.Objects) != 1 || len(p.Objects[0].GetOwnerReferences()) > 0 {
				t.Errorf("%+v, %v", p, err)
			}
			if restored := q.Source.Type == v1alpha1.SourceUpload; restored != test.restored || q.Revision != 1 ||
				q.Class != v1alpha1.ClassPlain || !restored && q.Config.Namespace != "team" {
				t.Errorf("%+v", q)
			}
		})
	}
}
