package instance

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	helmchart "helm.sh/helm/v3/pkg/chart"
	helm "helm.sh/helm/v3/pkg/release"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/berthdev/berth/api/bundle/v1alpha1"
	"github.com/berthdev/berth/internal/bundle/format"
	"github.com/berthdev/berth/internal/release"
)

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
		"it was cut off":    {record(func(r *helm.Release) { r.Info.Status = helm.StatusPendingUpgrade }), first, false},
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
