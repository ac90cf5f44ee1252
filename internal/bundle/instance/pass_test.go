package instance

import (
	"context"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	dynamicfake "k8s.io/client-go/dynamic/fake"
	clienttesting "k8s.io/client-go/testing"

	"github.com/berthdev/berth/api/bundle/v1alpha1"
	"github.com/berthdev/berth/internal/bundle/content"
	"github.com/berthdev/berth/internal/bundle/format"
	"github.com/berthdev/berth/internal/bundle/resource"
	"github.com/berthdev/berth/internal/bundle/source"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/release"
)

// pairing is a cluster with an instance of one class, whose bundle of another has this content and is unpacked.
func pairing(t *testing.T, instance, bundle, dir string) (*pass, *v1alpha1.Bundle) {
	t.Helper()
	in := with("", 1)
	in.Spec.ProvisionerClassName, in.Spec.Template.Spec.ProvisionerClassName = instance, bundle
	r, _ := fakeCluster(t, in, nil)
	r.Fetcher = source.Fetcher{Cache: content.NewCache(t.TempDir(), 1<<20), Limits: content.DefaultLimits()}
	c, err := r.Fetcher.Local(t.Context(), dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	b := resource.NewBundle(in, "hash", 0, r.System)
	b.Status.Digest, b.Status.ResolvedSource = c.Digest, &b.Spec.Source
	resource.SetUnpacked(b, v1alpha1.PhaseUnpacked, resource.Yes(v1alpha1.ReasonUnpackSuccessful, ""), r.Now())
	_ = c.Close()
	return &pass{Reconciler: r, steps: quiet(), in: in}, b
}

// An instance of plain manifests over the bundle of an operator installs what that stands for, and no
// ClusterServiceVersion, and so does the record of it; a pair that no class installs is refused by name.
func TestClassesOfAPair(t *testing.T) {
	const operator, chart = "../format/testdata/small/csv", "../format/testdata/small/mani"
	for name, test := range map[string]struct {
		instance, bundle, dir string
		want                  string // what is first among its objects
	}{
		"plain over registry": {v1alpha1.ClassPlain, v1alpha1.ClassRegistry, operator, "Namespace"},
		"both registry":       {v1alpha1.ClassRegistry, v1alpha1.ClassRegistry, operator, "Namespace"},
		"plain over helm":     {v1alpha1.ClassPlain, v1alpha1.ClassHelm, chart, ""},
		"helm over registry":  {v1alpha1.ClassHelm, v1alpha1.ClassRegistry, operator, ""},
	} {
		t.Run(name, func(t *testing.T) {
			p, b := pairing(t, test.instance, test.bundle, test.dir)
			pkg, err := p.readBundle(t.Context(), b, nil)
			if test.want == "" {
				v := p.verdicts.Valid
				if fault.CodeOf(err) != fault.InvalidArgument || v.Reason != v1alpha1.ReasonBundleLoadFailed ||
					!strings.Contains(v.Message, test.bundle) {
					t.Errorf("%v, %+v", err, v)
				}
				return
			}
			if err != nil || pkg.Objects[0].GetKind() != test.want || pkg.Format != format.Registry {
				t.Fatalf("%+v, %v", pkg, err)
			}
			from := p.originOf(p.in, b, v1alpha1.ClassRegistry, v1alpha1.Config{})
			current, err := nextRelease("shop", "ns", from, pkg, pkg.Objects, nil, p.Now())
			if err != nil {
				t.Fatal(err)
			}
			release.Deployed(current, p.Now())
			if again, err := p.recorded(b, current); err != nil || again == nil || again.Name != pkg.Name {
				t.Errorf("it is read again: %+v, %v", again, err)
			}
		})
	}
}

// What takes too long to unpack is said on the bundle and on its instance; a pass that
// was interrupted says nothing, and that it was begun is there.
func TestUnpackingEnds(t *testing.T) {
	for name, test := range map[string]struct {
		cause  error
		phases []string
		says   string
	}{
		"it takes too long": {
			fault.New(fault.DeadlineExceeded, "reconciling took longer than 5m0s"),
			[]string{"Unpacking", "Failing"},
			"reconciling took longer than 5m0s",
		},
		"it was interrupted": {context.Canceled, []string{"Unpacking"}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			ctx, end := context.WithCancelCause(t.Context())
			server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
				end(test.cause)
				<-r.Context().Done()
			}))
			defer server.Close()
			in := with("", 1)
			in.Spec.Template.Spec.Source = v1alpha1.Source{
				Type: v1alpha1.SourceHTTP,
				HTTP: &v1alpha1.HTTPSource{URL: server.URL + "/shop.tgz"},
			}
			r, client := fakeCluster(t, in, func(*dynamicfake.FakeDynamicClient) {})
			r.Fetcher = source.Fetcher{Cache: content.NewCache(t.TempDir(), 1<<20), Limits: content.DefaultLimits()}
			var phases []string
			client.PrependReactor("update", "bundles", func(action clienttesting.Action) (bool, runtime.Object, error) {
				object := action.(clienttesting.UpdateAction).GetObject().(*unstructured.Unstructured)
				phase, _, _ := unstructured.NestedString(object.Object, "status", "phase")
				phases = append(phases, phase)
				return false, nil, nil
			})
			if _, err := r.Instance(ctx, "shop", UntilLookedAt, quiet()); err == nil {
				t.Error("it has worked")
			}
			if !slices.Equal(phases, test.phases) {
				t.Errorf("%q, want %q", phases, test.phases)
			}
			now, err := r.objects().Instance(t.Context(), "shop")
			if err != nil {
				t.Fatal(err)
			}
			c := meta.FindStatusCondition(now.Status.Conditions, v1alpha1.ConditionHasValidBundle)
			if (c != nil) != (test.says != "") || c != nil &&
				(c.Status != "False" || !strings.Contains(c.Message, test.says)) {
				t.Errorf("%+v", c)
			}
		})
	}
}
