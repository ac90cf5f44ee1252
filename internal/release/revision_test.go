package release

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	clientset "k8s.io/client-go/kubernetes/fake"
)

// What is recorded is read as it was, to the last digit; only Helm sees that definitions
// are to be kept.
func TestManifest(t *testing.T) {
	object := func(kind string, metadata map[string]any, rest map[string]any) *unstructured.Unstructured {
		metadata["name"] = "a"
		return &unstructured.Unstructured{Object: map[string]any{
			"apiVersion": "v1", "kind": kind, "metadata": metadata,
			"spec": rest,
		}}
	}
	keep := map[string]any{"helm.sh/resource-policy": "keep"}
	for name, o := range map[string]*unstructured.Unstructured{
		"texts": object("ConfigMap", map[string]any{},
			map[string]any{
				"a": "one\n---\ntwo\n", "b": "---", "c": "", "d": "1", "e": "yes", "f": "a: b # {{ c }}",
				"g": " \t\n\n",
			}),
		"numbers": object("Crew", map[string]any{},
			map[string]any{"a": int64(math.MaxInt64), "b": int64(-1), "c": 0.5, "d": 1e300, "e": int64(1_000_000)}),
		"nothing": object("Crew", map[string]any{},
			map[string]any{"a": nil, "b": map[string]any{}, "c": []any{}}),
		"a definition": object("CustomResourceDefinition", map[string]any{}, map[string]any{}),
		"one with an annotation": object("CustomResourceDefinition",
			map[string]any{"annotations": map[string]any{"a": "b"}}, map[string]any{}),
		"one that is kept anyway": object("CustomResourceDefinition", map[string]any{"annotations": keep}, map[string]any{}),
	} {
		text, err := Manifest([]*unstructured.Unstructured{o})
		if err != nil {
			t.Fatal(err)
		}
		if kept := strings.Contains(text,
			"helm.sh/resource-policy: keep"); kept != (o.GetKind() == "CustomResourceDefinition") {
			t.Errorf("%s: Helm keeps it: %t", name, kept)
		}
		read, err := Objects(text)
		if err != nil || len(read) != 1 {
			t.Fatalf("%s: %d objects, %v", name, len(read), err)
		}
		if diff := cmp.Diff(o.Object, read[0].Object); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

// The notes of a chart are kept, wherever there is room for them.
func TestNotes(t *testing.T) {
	for name, size := range map[string]int{"in the record": 10, "in chunks": 10_000} {
		client := clientset.NewClientset()
		records := Records{Secrets: client.CoreV1().Secrets("ns"), Namespace: "ns", most: 2000}
		content := bundleOf(t, 10)
		content.Notes = bundleOf(t, size).Manifest
		upgrade(t, records, content, 3)
		found, err := records.Latest(t.Context(), "a")
		if err != nil || found.Info.Notes != content.Notes || found.Manifest != content.Manifest {
			t.Errorf("%s: %v, %+v", name, err, found)
		}
		if chunked := len(secretNames(t, client)) > 1; chunked != (size > 10) {
			t.Errorf("%s: %v", name, secretNames(t, client))
		}
		if err := records.Succeeded(t.Context(), found, 3, time.Now()); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}
