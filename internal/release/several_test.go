package release

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	clientset "k8s.io/client-go/kubernetes/fake"
)

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
