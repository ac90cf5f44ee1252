package release

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"helm.sh/helm/v3/pkg/chart"
	helm "helm.sh/helm/v3/pkg/release"
	clientset "k8s.io/client-go/kubernetes/fake"
)

// A record has the blueprint where k8shell reads it, berth's values where that does not look, and the labels that it
// selects by; the values are read as they were rendered, also those of records that were written flat.
func TestRecordForK8shell(t *testing.T) {
	values := map[string]any{
		"id": "alice-1", "initScripts": []any{map[string]any{"file": "01-a", "script": "b"}},
		"labels": map[string]any{
			"k8shell.io/username": "alice", "k8shell.io/blueprint": "dev", "k8shell.io/k8shelld-version": "1.0.0",
			"k8shell.io/organization": "", "k8shell.io/job-id": "7",
		},
		"k8shell": map[string]any{
			"initScripts": []any{map[string]any{"name": "a", "script": "b"}}, "__canonicalid__": "alice-1",
		},
	}
	rendered, err := Render(values)
	if err != nil {
		t.Fatal(err)
	}
	records := Records{Secrets: clientset.NewClientset().CoreV1().Secrets("ns"), Namespace: "ns"}
	if err := records.Create(t.Context(), NewRecord("alice-1", "ns", rendered, time.Now())); err != nil {
		t.Fatal(err)
	}
	found, err := records.Latest(t.Context(), "alice-1")
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct{ got, want any }{
		"a field of the blueprint": {found.Config["initScripts"], []any{map[string]any{"name": "a", "script": "b"}}},
		"the ID":                   {found.Config["__canonicalid__"], "alice-1"},
		"berth's own": {
			found.Config["berth"].(map[string]any)["initScripts"],
			[]any{map[string]any{"file": "01-a", "script": "b"}},
		},
		"read again":        {Values(found), values},
		"not k8shell's own": {IsK8shells(found), false},
		"of this chart":     {IsOfThisChart(found), true},
		"its name":          {found.Labels["app.kubernetes.io/name"], "k8shell-workspace"},
		"its instance":      {found.Labels["app.kubernetes.io/instance"], "alice-1"},
		"its manager":       {found.Labels["app.kubernetes.io/managed-by"], "k8shell-provisioner"},
		"its owner":         {found.Labels["k8shell.io/username"], "alice"},
		"its blueprint":     {found.Labels["k8shell.io/blueprint"], "dev"},
		"its agent":         {found.Labels["k8shell.io/k8shelld-version"], "1.0.0"},
		"no job":            {found.Labels["k8shell.io/job-id"], ""},
	} {
		if diff := cmp.Diff(c.want, c.got); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
	if _, has := found.Labels["k8shell.io/organization"]; !has {
		t.Error("the organization is not there")
	}
	found.Config = map[string]any{"id": "alice-1", "image": "flat"}
	if diff := cmp.Diff(map[string]any{"id": "alice-1", "image": "flat"}, Values(found)); diff != "" {
		t.Errorf("of an earlier berth: %s", diff)
	}
}

// A release is k8shell's own by its chart and labels, and not by a value that anybody may have written into it.
func TestK8shellsOwn(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*helm.Release)
		want   bool
	}{
		"as it is":           {func(*helm.Release) {}, true},
		"another chart":      {func(r *helm.Release) { r.Chart.Metadata.Name = "k8shell-workspace" }, false},
		"no chart":           {func(r *helm.Release) { r.Chart = nil }, false},
		"of another program": {func(r *helm.Release) { r.Labels["app.kubernetes.io/managed-by"] = "x" }, false},
		"of something else":  {func(r *helm.Release) { r.Labels["app.kubernetes.io/name"] = "x" }, false},
		"berth's values":     {func(r *helm.Release) { r.Config["berth"] = map[string]any{} }, false},
	} {
		record := &helm.Release{
			Chart:  &chart.Chart{Metadata: &chart.Metadata{Name: "workspace"}},
			Config: map[string]any{"__canonicalid__": "alice-1"},
			Labels: map[string]string{
				"app.kubernetes.io/name": "k8shell-workspace", "app.kubernetes.io/managed-by": "k8shell-provisioner",
			},
		}
		c.change(record)
		if got := IsK8shells(record); got != c.want {
			t.Errorf("%s: %t", name, got)
		}
	}
}

// What is recorded is made again as it is, but for the job.
func TestAgain(t *testing.T) {
	const before, now = "3b0b7b0e-6f5c-4a41-9f5e-0d6f3b1d2c4a", "00000000-0000-4000-8000-000000000000"
	record := NewRecord("a", "ns", &Rendered{}, time.Now())
	record.Manifest = "apiVersion: v1\nkind: Pod\nmetadata: {name: a, namespace: ns, labels: {job: " + before +
		", x: z}}\n"
	for name, c := range map[string]struct{ before, want string }{
		"the job": {before, now}, "none": {"", before}, "a word": {"z", before},
	} {
		got, err := Again(record, c.before, now, nil)
		if err != nil || len(got.Objects) != 1 {
			t.Fatalf("%s: %v, %v", name, err, got)
		}
		labels := got.Objects[0].GetLabels()
		if labels["job"] != c.want || labels["x"] != "z" || got.Objects[0].GetNamespace() != "" {
			t.Errorf("%s: %v", name, got.Objects[0].Object)
		}
	}
}
