package instance

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	helmchart "helm.sh/helm/v3/pkg/chart"
	helm "helm.sh/helm/v3/pkg/release"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/kubernetes/fake"

	"github.com/berthdev/berth/api/bundle/v1alpha1"
	"github.com/berthdev/berth/internal/bundle/format"
	"github.com/berthdev/berth/internal/kube"
	"github.com/berthdev/berth/internal/release"
)

// What attempts since the installed revision may have left is known, whether they failed
// or were cut off; what was before the installed one is gone.
func TestHistory(t *testing.T) {
	r := Reconciler{Own: &kube.Client{Interface: fake.NewClientset()}, System: "ns", Now: time.Now}
	var latest *helm.Release
	record := func(name string, end func(*helm.Release) error) {
		t.Helper()
		object := &unstructured.Unstructured{Object: map[string]any{
			"apiVersion": "v1", "kind": "ConfigMap",
			"metadata": map[string]any{"name": name},
		}}
		pkg := &format.Package{Format: format.Plain, Objects: []*unstructured.Unstructured{object}}
		next, err := nextRelease("shop", "ns", origin{Values: name}, pkg, pkg.Objects, latest, time.Now())
		if err == nil {
			err = r.records().Create(t.Context(), next)
		}
		if err == nil {
			err = end(next)
		}
		if err != nil {
			t.Fatal(err)
		}
		latest = next
	}
	failed := func(next *helm.Release) error {
		return r.records().Failed(t.Context(), next, "no", keptRevisions, func(*helm.Release) bool { return false })
	}
	succeeded := func(next *helm.Release) error {
		return r.records().Succeeded(t.Context(), next, keptRevisions, time.Now())
	}
	expect := func(revision int, installed, attempted string) {
		t.Helper()
		h, err := r.history(t.Context(), "shop", latest)
		if err != nil {
			t.Fatal(err)
		}
		if (h.deployed == nil) != (revision == 0) || h.deployed != nil && h.deployed.Version != revision {
			t.Errorf("%+v is deployed, want revision %d", h.deployed, revision)
		}
		if got := namesOf(h.installed); got != installed {
			t.Errorf("%s is installed, want %s", got, installed)
		}
		if got := namesOf(h.attempted); got != attempted {
			t.Errorf("%s was attempted, want %s", got, attempted)
		}
	}
	expect(0, "[]", "[]")
	record("a", failed)
	expect(0, "[]", "[a]")
	record("b", succeeded)
	expect(2, "[b]", "[]")
	record("c", failed)
	record("d", func(*helm.Release) error { return nil }) // cut off
	expect(2, "[b]", "[c d]")
	record("e", succeeded)
	expect(5, "[e]", "[]")
}

func namesOf(objects []*unstructured.Unstructured) string {
	names := make([]string, len(objects))
	for i, object := range objects {
		names[i] = object.GetName()
	}
	return fmt.Sprint(names)
}

// A release is made once of a bundle and what its instance sets, however its chart renders
// the next time.
func TestRecorded(t *testing.T) {
	first := origin{Instance: "1", Bundle: "2", Class: v1alpha1.ClassHelm, Namespace: "team", Values: "a: b"}
	object := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "v1", "kind": "Secret", "metadata": map[string]any{"name": "a", "namespace": "team"},
		"data": map[string]any{"random": "eA=="},
	}}
	chart := &helmchart.Chart{Metadata: &helmchart.Metadata{Name: "web", Version: "1.2.3"}}
	record := func(change func(*helm.Release)) *helm.Release {
		pkg := &format.Package{
			Format: format.Helm, Chart: chart, Notes: "hello",
			Objects: []*unstructured.Unstructured{object},
		}
		r, err := nextRelease("a", "ns", first, pkg, pkg.Objects, nil, time.Now())
		if err != nil {
			t.Fatal(err)
		}
		release.Deployed(r, time.Now())
		change(r)
		return r
	}
	same := func(*helm.Release) {}
	with := func(change func(*origin)) origin {
		o := first
		change(&o)
		return o
	}
	for name, test := range map[string]struct {
		current *helm.Release
		wanted  origin
		want    bool
	}{
		"the same":          {record(same), first, true},
		"nothing":           {nil, first, false},
		"another bundle":    {record(same), with(func(o *origin) { o.Bundle = "3" }), false},
		"a new instance":    {record(same), with(func(o *origin) { o.Instance = "3" }), false},
		"another class":     {record(same), with(func(o *origin) { o.Class = v1alpha1.ClassPlain }), false},
		"other values":      {record(same), with(func(o *origin) { o.Values = "a: c" }), false},
		"another namespace": {record(same), with(func(o *origin) { o.Namespace = "other" }), false},
		"it failed":         {record(func(r *helm.Release) { release.Failed(r, "no") }), first, false},
		"it was cut off": {
			record(func(r *helm.Release) { r.Info.Status = helm.StatusPendingUpgrade }), first,
			false,
		},
		"helm has upgraded": {record(func(r *helm.Release) { r.Chart = chart }), first, false},
		"there is no chart": {record(func(r *helm.Release) { r.Chart = nil }), first, false},
		"it says nothing":   {record(func(r *helm.Release) { r.Chart = &helmchart.Chart{} }), first, false},
	} {
		got, err := recorded(test.current, test.wanted)
		if err != nil || (got != nil) != test.want {
			t.Errorf("%s: %+v, %v", name, got, err)
			continue
		}
		if got == nil {
			continue
		}
		want := &format.Package{
			Format: format.Helm, Name: "web", Version: "1.2.3", Notes: "hello", Recorded: true,
			Objects: []*unstructured.Unstructured{object},
		}
		if diff := cmp.Diff(want.Objects, got.Objects); diff != "" || got.Name != want.Name ||
			got.Version != want.Version || got.Notes != want.Notes || !got.Recorded {
			t.Errorf("%s: %+v %s", name, got, diff)
		}
	}
	if chart.Metadata.Annotations != nil {
		t.Errorf("the chart itself was changed: %v", chart.Metadata.Annotations)
	}
}

// An attempt of the same that failed before is known by its origin.
func TestOriginIn(t *testing.T) {
	chart := &helmchart.Chart{Metadata: &helmchart.Metadata{Name: "web", Version: "1.2.3"}}
	o := origin{Instance: "1", Bundle: "2"}
	for name, test := range map[string]struct {
		release *helm.Release
		want    string
	}{
		"nothing":     {nil, ""},
		"no chart":    {&helm.Release{}, ""},
		"of helm":     {&helm.Release{Chart: chart}, ""},
		"of a bundle": {&helm.Release{Chart: o.from(chart)}, o.hash()},
	} {
		if got := originIn(test.release); got != test.want {
			t.Errorf("%s: %q", name, got)
		}
	}
}

func TestDecide(t *testing.T) {
	record := func(status helm.Status, manifest string, values map[string]any) *helm.Release {
		return &helm.Release{Manifest: manifest, Config: values, Info: &helm.Info{Status: status}}
	}
	values := map[string]any{"a": 1.0}
	wanted := record(helm.StatusPendingUpgrade, "m", values)
	for name, test := range map[string]struct {
		current   *helm.Release
		installed bool
		want      change
	}{
		"nothing":                         {nil, false, toInstall},
		"the first one failed":            {record(helm.StatusFailed, "m", values), false, toInstall},
		"the first one was cut off":       {record(helm.StatusPendingInstall, "m", values), false, toInstall},
		"the same":                        {record(helm.StatusDeployed, "m", values), true, toRepair},
		"another manifest":                {record(helm.StatusDeployed, "n", values), true, toUpgrade},
		"other values":                    {record(helm.StatusDeployed, "m", nil), true, toUpgrade},
		"an upgrade to the same failed":   {record(helm.StatusFailed, "m", values), true, toUpgrade},
		"an upgrade to the same, cut off": {record(helm.StatusPendingUpgrade, "m", values), true, toUpgrade},
	} {
		if got := decide(test.current, wanted, test.installed); got != test.want {
			t.Errorf("%s: %d, want %d", name, got, test.want)
		}
	}
}

// What is on its way is looked at often, what stays unhealthy not.
func TestLookAgain(t *testing.T) {
	now := time.Unix(1e9, 0)
	for since, want := range map[time.Duration]time.Duration{
		-time.Hour: time.Second, 0: time.Second, 5 * time.Second: 5 * time.Second, 24 * time.Hour: time.Minute,
	} {
		if got := lookAgain(now.Add(-since), now); got != want {
			t.Errorf("after %s: %s, want %s", since, got, want)
		}
	}
}
