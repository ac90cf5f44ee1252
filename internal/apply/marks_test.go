package apply

import (
	"context"
	"errors"
	"maps"
	"strconv"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	clienttesting "k8s.io/client-go/testing"

	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/kube"
)

// Marks and namespaces are of copies of the metadata: there may be megabytes of the rest.
func TestMarkedObjectsShareTheirContent(t *testing.T) {
	object := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": "a"},
		"data": map[string]any{"x": "y"},
	}}
	placed, err := newCluster().applier().Placed(t.Context(), []*unstructured.Unstructured{object})
	if err != nil {
		t.Fatal(err)
	}
	marked := Owner{Labels: map[string]string{"a": "b"}, Annotations: map[string]string{"c": "d"}}.mark(placed[0])
	if marked.GetLabels()["a"] != "b" || marked.GetAnnotations()["c"] != "d" || marked.GetNamespace() == "" {
		t.Error(marked)
	}
	if object.GetNamespace() != "" || placed[0].GetLabels() != nil || placed[0].GetAnnotations() != nil {
		t.Errorf("what was given is changed: %v, %v", object, placed[0])
	}
	object.Object["data"].(map[string]any)["x"] = "z"
	if x, _, _ := unstructured.NestedString(marked.Object, "data", "x"); x != "z" {
		t.Error("the content has been copied")
	}
}

// precise lets the cluster refuse to delete another object, or another version of it,
// than is meant.
func (c *cluster) precise() {
	c.PrependReactor("delete", "*", func(action clienttesting.Action) (bool, runtime.Object, error) {
		deletion := action.(clienttesting.DeleteActionImpl)
		current, err := c.Tracker().Get(deletion.GetResource(), deletion.GetNamespace(), deletion.GetName())
		if err != nil {
			return true, nil, err
		}
		object, want := current.(*unstructured.Unstructured), deletion.DeleteOptions.Preconditions
		if *want.UID != object.GetUID() || want.ResourceVersion != nil &&
			*want.ResourceVersion != object.GetResourceVersion() {
			return true, nil, apierrors.NewConflict(deletion.GetResource().GroupResource(), deletion.GetName(),
				errors.New("precondition failed"))
		}
		return false, nil, nil
	})
}

// generation is a lock of which nothing but its number is known.
type generation int

var errNewer = errors.New("a newer lock")

func (g generation) Mark() (name, value string) { return kube.AnnotationLock, strconv.Itoa(int(g)) }

func (g generation) Check(_ context.Context, annotations map[string]string) error {
	if n, _ := strconv.Atoi(annotations[kube.AnnotationLock]); n > int(g) {
		return errNewer
	}
	return nil
}

func (g generation) Confirm(context.Context) error { return nil }

func (c *cluster) under(lock generation) Applier {
	a := c.applier()
	a.Fence = lock
	return a
}

// Each run marks what it writes, and what it finds and uses; a run that has lost the lock
// neither changes nor deletes what a newer one has marked.
func TestFence(t *testing.T) {
	c := newCluster()
	c.precise()
	wanted := Objects(workspace(t)[:2])
	for _, lock := range []generation{1, 2} {
		changes, err := c.under(lock).Apply(t.Context(), wanted)
		if err != nil {
			t.Fatal(err)
		}
		for _, change := range changes {
			if got := change.Object.GetAnnotations()[kube.AnnotationLock]; got != strconv.Itoa(int(lock)) {
				t.Errorf("%s is marked %q under lock %d", change.Object.GetKind(), got, lock)
			}
		}
	}
	if _, err := c.under(1).Apply(t.Context(), wanted); !errors.Is(err, errNewer) {
		t.Errorf("the old run goes on with %v", err)
	}
	own, _, err := c.applier().Find(t.Context(), Unwrap(wanted), c.applier().Owner.Owns)
	if err != nil {
		t.Fatal(err)
	}
	if changes, err := c.under(1).Remove(t.Context(), own); !errors.Is(err, errNewer) || len(changes) > 0 {
		t.Errorf("the old run deletes: %v, %v", changes, err)
	}
	if changes, err := c.under(2).Remove(t.Context(), own); err != nil || len(changes) != 2 {
		t.Errorf("the newest run deletes %v, %v", changes, err)
	}
}

// What is taken over between the look and the deletion stays.
func TestFenceBetweenTheLookAndTheDeletion(t *testing.T) {
	for name, test := range map[string]struct {
		by   generation
		gone bool
	}{
		"a newer run took it over": {2, false},
		"something else wrote it":  {1, true},
	} {
		there := workspace(t)[0]
		there.SetNamespace("ns")
		there.SetUID("u1")
		there.SetResourceVersion("7")
		kube.Annotate(there, kube.AnnotationLock, "1")
		c := newCluster(there.DeepCopy())
		c.precise()
		now := there.DeepCopy()
		now.SetResourceVersion("8")
		kube.Annotate(now, kube.AnnotationLock, strconv.Itoa(int(test.by)))
		resource, _ := kube.ResourceOf(now.GroupVersionKind())
		if err := c.Tracker().Update(resource.GroupVersionResource, now, "ns"); err != nil {
			t.Fatal(err)
		}
		changes, err := c.under(1).Remove(t.Context(), []*unstructured.Unstructured{there})
		if (len(changes) == 1) != test.gone || errors.Is(err, errNewer) == test.gone {
			t.Errorf("%s: %v, %v", name, changes, err)
		}
	}
}

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
