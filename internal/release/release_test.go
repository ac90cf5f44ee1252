package release

import (
	"slices"
	"testing"
	"time"

	helm "helm.sh/helm/v3/pkg/release"
	clientset "k8s.io/client-go/kubernetes/fake"
)

const manifest = `---
# Source: x
apiVersion: v1
kind: ConfigMap
metadata: {name: a}
---
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: data}
---

---
apiVersion: v1
kind: Pod
metadata: {name: a, labels: {"text": "--- is no separator here"}}
`

func TestObjects(t *testing.T) {
	all, err := Objects(manifest)
	if err != nil || len(all) != 3 {
		t.Fatalf("%d objects, %v", len(all), err)
	}
}

// A record is found again as it was written; the newest revision counts.
func TestRecords(t *testing.T) {
	records := Records{Secrets: clientset.NewClientset().CoreV1().Secrets("ns"), Namespace: "ns"}
	if found, err := records.Latest(t.Context(), "a"); found != nil || err != nil {
		t.Fatalf("%v, %v", found, err)
	}
	c, err := Chart()
	if err != nil {
		t.Fatal(err)
	}
	record := NewRecord("a", "ns", &Rendered{Chart: c, Manifest: manifest}, time.Now())
	if err := records.Create(t.Context(), record); err != nil {
		t.Fatal(err)
	}
	if err := records.Create(t.Context(), record); err != ErrExists { //nolint:errorlint // it is this very value
		t.Errorf("the second one gives %v", err)
	}
	second := *record
	second.Version = 2
	if err := records.Create(t.Context(), &second); err != nil {
		t.Fatal(err)
	}
	Deployed(&second, time.Now())
	if err := records.Update(t.Context(), &second); err != nil {
		t.Fatal(err)
	}
	found, err := records.Latest(t.Context(), "a")
	if err != nil || found.Version != 2 || found.Info.Status != helm.StatusDeployed || found.Manifest != manifest {
		t.Errorf("%+v, %v", found, err)
	}
}

func TestTheChartIsWhole(t *testing.T) {
	c, err := Chart()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Validate(); err != nil {
		t.Error(err)
	}
	var names []string
	for _, f := range c.Raw {
		names = append(names, f.Name)
	}
	for _, want := range []string{"templates/_helpers.tpl", "runtime/start.sh", "values.yaml"} {
		if !slices.Contains(names, want) {
			t.Errorf("%s is not embedded: %s", want, names)
		}
	}
}

// Which refusals are new since an earlier look.
func TestRefusedSince(t *testing.T) {
	now := time.Now()
	record := func(at time.Time) *helm.Release { return NewRecord("a", "ns", &Rendered{}, at) }
	refusal := func(at time.Time) *helm.Release {
		refused := record(at)
		Refused(refused, "pod/a", "exceeded quota: q")
		return refused
	}
	for _, test := range []struct {
		name        string
		before, now *helm.Release
		want        bool
	}{
		{"nothing there", nil, nil, false},
		{"being installed", nil, record(now), false},
		{"refused, where nothing was", nil, refusal(now), true},
		{"refused, what was being installed", record(now), refusal(now), true},
		{"the refusal from before", refusal(now), refusal(now), false},
		{"refused again", refusal(now.Add(-time.Minute)), refusal(now), true},
		{"being installed again", refusal(now), record(now), false},
	} {
		if got := RefusedSince(test.before, test.now); got != test.want {
			t.Errorf("%s: %t", test.name, got)
		}
	}
}
