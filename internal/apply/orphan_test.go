package apply

import (
	"maps"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/kube"
)

// An orphan keeps what marks it as its release's, and has neither the reference nor
// the tags; of what belongs to others, only the reference goes.
func TestOrphan(t *testing.T) {
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
		object.SetOwnerReferences([]metav1.OwnerReference{
			{Kind: "X", Name: "x", UID: "instance"},
			{Kind: "Y", Name: "y", UID: "another"},
		})
	}
	c := newCluster(own, foreign, untied)
	letting := c.applier()
	letting.Owner = a.Owner
	if err := letting.Orphan(t.Context(), objects, "instance"); err != nil {
		t.Fatal(err)
	}
	if len(c.writes) != 2 {
		t.Errorf("writes %q, want two: what is not tied is not written", c.writes)
	}
	for i, tag := range []string{"", "a"} {
		resource, _ := kube.ResourceOf(objects[i].GroupVersionKind())
		got, err := c.Resource(resource.GroupVersionResource).Namespace("ns").
			Get(t.Context(), objects[i].GetName(), metav1.GetOptions{})
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

// An orphaned claim is its owner's again once it is wanted: it gets the tags back by
// which it is found. What may not be marked is refused, for it would be missed for ever.
func TestOrphanedClaim(t *testing.T) {
	tagged := func(c *cluster) Applier {
		a := c.under(1)
		a.Owner.Tags = map[string]string{"tag": "a"}
		return a
	}
	c := newCluster()
	wanted := Objects(workspace(t)[1:2])
	made, err := tagged(c).Apply(t.Context(), wanted)
	if err != nil {
		t.Fatal(err)
	}
	if err := tagged(c).Orphan(t.Context(), made.Objects(), ""); err != nil {
		t.Fatal(err)
	}
	c.answers["patch persistentvolumeclaims"] = apierrors.NewForbidden(schema.GroupResource{}, "data", nil)
	if _, err := tagged(c).Apply(t.Context(), wanted); fault.CodeOf(err) != fault.PermissionDenied {
		t.Errorf("without the permission to mark it: %v", err)
	}
	delete(c.answers, "patch persistentvolumeclaims")
	again, err := tagged(c).Apply(t.Context(), wanted)
	if err != nil {
		t.Fatal(err)
	}
	expect(t, actions(again), "unchanged PersistentVolumeClaim")
	if tag := again.Objects()[0].GetLabels()["tag"]; tag != "a" {
		t.Errorf("it is tagged %q", tag)
	}
	c.answers["patch persistentvolumeclaims"] = apierrors.NewForbidden(schema.GroupResource{}, "data", nil)
	if _, err := tagged(c).Apply(t.Context(), wanted); err != nil {
		t.Errorf("one that has its tags is used as it is: %v", err)
	}
}
