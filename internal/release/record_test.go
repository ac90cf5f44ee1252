package release

import (
	"errors"
	"slices"
	"testing"
	"time"

	helm "helm.sh/helm/v3/pkg/release"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	clientset "k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"
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

// Which record of a release counts is the same whether one is read or many are: the newest, and
// beside one that is guarded none that is not.
func TestNewest(t *testing.T) {
	for name, test := range map[string]struct {
		guarded []bool // by revision
		want    int
	}{
		"the newest of those of Helm":      {[]bool{false, false, false}, 3},
		"the newest of those of berth":     {[]bool{true, true}, 2},
		"a revision that somebody added":   {[]bool{true, true, false}, 2},
		"one of before there was a policy": {[]bool{false, true}, 2},
	} {
		client := clientset.NewClientset()
		records := Records{Secrets: client.CoreV1().Secrets("ns"), Namespace: "ns"}
		for i, guarded := range test.guarded {
			revision := NewRevision("a", "ns", bundleOf(t, 10), nil, time.Now())
			if revision.Version = i + 1; guarded {
				revision.Labels = map[string]string{LabelGuarded: "pods"}
			}
			if err := records.Create(t.Context(), revision); err != nil {
				t.Fatal(err)
			}
		}
		latest, err := records.Latest(t.Context(), "a")
		if err != nil || latest.Version != test.want {
			t.Errorf("%s: %v, revision %d, want %d", name, err, latest.Version, test.want)
		}
		all, err := Several(t.Context(), client.CoreV1(), corev1.NamespaceAll, []string{"a", "b"})
		one := all[types.NamespacedName{Namespace: "ns", Name: "a"}]
		if err != nil || len(all) != 1 || one.Err != nil || one.Release.Version != test.want {
			t.Errorf("%s, of several: %v, %+v, want %d", name, err, all, test.want)
		}
		after, err := records.After(t.Context(), "a", test.want-1)
		if err != nil || len(after) != 1 || after[0].Version != test.want {
			t.Errorf("%s, after the one before: %v, %+v", name, err, after)
		}
	}
}

// Records of several releases that cannot be listed are an error, not releases without any.
func TestSeveralThatCannotBeListed(t *testing.T) {
	client := clientset.NewClientset()
	client.PrependReactor("list", "secrets", func(clienttesting.Action) (bool, runtime.Object, error) {
		return true, nil, errors.New("no answer")
	})
	if all, err := Several(t.Context(), client.CoreV1(), "ns", []string{"a"}); err == nil {
		t.Errorf("%+v", all)
	}
}

// Records that are kept in chunks are read like all others, also those of all namespaces at once.
func TestSeveralInChunks(t *testing.T) {
	client := clientset.NewClientset()
	for _, namespace := range []string{"ns", "other"} {
		records := Records{Secrets: client.CoreV1().Secrets(namespace), Namespace: namespace, most: 200}
		revision := NewRevision("a", namespace, bundleOf(t, 10), nil, time.Now())
		if err := records.Create(t.Context(), revision); err != nil || !IsInChunks(revision) {
			t.Fatal(IsInChunks(revision), err)
		}
	}
	for namespace, want := range map[string]int{corev1.NamespaceAll: 2, "ns": 1} {
		all, err := Several(t.Context(), client.CoreV1(), namespace, []string{"a"})
		if err != nil || len(all) != want {
			t.Fatalf("%q: %v, %v", namespace, all, err)
		}
		for of, one := range all {
			if one.Err != nil || one.Release.Namespace != of.Namespace || !IsInChunks(one.Release) {
				t.Errorf("%q: %s: %+v", namespace, of, one)
			}
		}
	}
}
