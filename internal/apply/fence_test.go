package apply

import (
	"context"
	"errors"
	"strconv"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	clienttesting "k8s.io/client-go/testing"

	"github.com/berthdev/berth/internal/kube"
)

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

// Each run marks what it writes, and what it finds and uses; who has lost the lock
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
