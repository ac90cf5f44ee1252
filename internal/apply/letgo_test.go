package apply

import (
	"maps"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/berthdev/berth/internal/kube"
)

// What is let go keeps what marks it as its release's, and has neither the reference nor
// the tags; of what belongs to others, only the reference goes.
func TestLetGo(t *testing.T) {
	a := newCluster().applier()
	a.Owner.Tags = map[string]string{"tag": "a"}
	own, foreign, untied := workspace(t)[0], workspace(t)[1], workspace(t)[2]
	own = a.Owner.mark(own)
	foreign.SetLabels(map[string]string{"tag": "a", "theirs": "x"})
	objects := []*unstructured.Unstructured{own, foreign, untied}
	for _, object := range objects {
		object.SetNamespace("ns")
		object.SetUID("u1")
	}
	for _, object := range objects[:2] {
		object.SetOwnerReferences([]metav1.OwnerReference{{Kind: "X", Name: "x", UID: "instance"}, {Kind: "Y", Name: "y", UID: "another"}})
	}
	c := newCluster(own, foreign, untied)
	letting := c.applier()
	letting.Owner = a.Owner
	if err := letting.LetGo(t.Context(), objects, "instance"); err != nil {
		t.Fatal(err)
	}
	if len(c.writes) != 2 {
		t.Errorf("writes %q, want two: what is not tied is not written", c.writes)
	}
	for i, tag := range []string{"", "a"} {
		resource, _ := kube.ResourceOf(objects[i].GroupVersionKind())
		got, err := c.Resource(resource.GroupVersionResource).Namespace("ns").Get(t.Context(), objects[i].GetName(), metav1.GetOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if refs := got.GetOwnerReferences(); len(refs) != 1 || refs[0].UID != "another" {
			t.Errorf("%s has the owners %v", got.GetKind(), refs)
		}
		if got.GetLabels()["tag"] != tag || a.Owner.Owns(objects[i]) != a.Owner.Owns(got) {
			t.Errorf("%s has the labels %v, the annotations %v", got.GetKind(), got.GetLabels(), got.GetAnnotations())
		}
		if !maps.Equal(got.GetAnnotations(), objects[i].GetAnnotations()) {
			t.Errorf("%s has the annotations %v", got.GetKind(), got.GetAnnotations())
		}
	}
}
