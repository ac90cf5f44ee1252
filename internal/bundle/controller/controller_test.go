package controller

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"sync"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic/fake"

	"github.com/berthdev/berth/api/bundle/v1alpha1"
	"github.com/berthdev/berth/internal/bundle/observe"
	"github.com/berthdev/berth/internal/reconcile"
)

// notes is a reconciler that notes what it is told to do, and fails for one.
type notes struct {
	mu   sync.Mutex
	done []string
}

var errBroken = errors.New("broken")

func (n *notes) note(what, name string) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.done = append(n.done, what+" "+name)
	if name == "broken" {
		return errBroken
	}
	return nil
}

func (n *notes) Bundle(_ context.Context, name string) error { return n.note("bundle", name) }
func (n *notes) Instance(_ context.Context, name string) (observe.Set, error) {
	return observe.Set{}, n.note("instance", name)
}

func object(kind, name, class, owner string) *unstructured.Unstructured {
	o := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": v1alpha1.GroupVersion().String(), "kind": kind,
		"spec": map[string]any{"provisionerClassName": class, "source": "large"},
	}}
	o.SetName(name)
	if owner != "" {
		o.SetLabels(map[string]string{v1alpha1.LabelOwnerKind: v1alpha1.KindInstance, v1alpha1.LabelOwnerName: owner})
	}
	return o
}

// One pass works on each object of our classes once, and on no other: not on an
// instance of another class whose bundle is ours, and on one of ours whose bundle
// another provisioner unpacks.
func TestPass(t *testing.T) {
	const foreign = "core-rukpak-io-plain"
	for name, c := range map[string]struct {
		kinds []string
		want  []string
	}{
		"everything": {
			[]string{v1alpha1.KindBundle, v1alpha1.KindInstance},
			[]string{"bundle b", "bundle broken", "instance i"},
		},
		"bundles":   {[]string{v1alpha1.KindBundle}, []string{"bundle b", "bundle broken"}},
		"instances": {[]string{v1alpha1.KindInstance}, []string{"instance i"}},
	} {
		t.Run(name, func(t *testing.T) {
			client := fake.NewSimpleDynamicClientWithCustomListKinds(runtime.NewScheme(),
				map[schema.GroupVersionResource]string{
					v1alpha1.Bundles(): "BundleList", v1alpha1.Instances(): "BundleInstanceList",
				},
				object(v1alpha1.KindBundle, "b", v1alpha1.ClassPlain, "theirs"),
				object(v1alpha1.KindBundle, "broken", v1alpha1.ClassHelm, "gone"),
				object(v1alpha1.KindBundle, "f", foreign, "i"),
				object(v1alpha1.KindInstance, "i", v1alpha1.ClassPlain, ""),
				object(v1alpha1.KindInstance, "theirs", foreign, ""),
			)
			work := &notes{}
			control := &Controller{
				Client: client, Reconciler: work, Workers: 2, Log: slog.New(slog.DiscardHandler),
				Classes: []string{v1alpha1.ClassPlain, v1alpha1.ClassHelm},
			}
			results, err := control.Pass(t.Context(), c.kinds, nil)
			if err != nil {
				t.Fatal(err)
			}
			slices.Sort(work.done)
			if !slices.Equal(work.done, c.want) {
				t.Errorf("worked on %v, want %v", work.done, c.want)
			}
			if len(results) != len(c.want) {
				t.Errorf("%d results, want %d: %v", len(results), len(c.want), results)
			}
			broken := slices.IndexFunc(results, func(r reconcile.Result[Key]) bool {
				return errors.Is(r.Err,
					errBroken)
			})
			if (broken >= 0) != slices.Contains(c.want, "bundle broken") {
				t.Errorf("the results are %v", results)
			}
		})
	}
}

// What stays in memory of an object does not grow with it.
func TestThin(t *testing.T) {
	o := object(v1alpha1.KindBundle, "b", v1alpha1.ClassPlain, "i")
	o.SetGeneration(3)
	o.SetFinalizers([]string{"x"})
	now := metav1.Now()
	o.SetDeletionTimestamp(&now)
	kept := thin(o)
	if _, has, _ := unstructured.NestedFieldNoCopy(kept.Object, "spec", "source"); has {
		t.Error("the source is kept")
	}
	if classOf(kept) != v1alpha1.ClassPlain || kept.GetGeneration() != 3 || len(kept.GetFinalizers()) != 1 ||
		kept.GetDeletionTimestamp() == nil || len(owner(kept)) != 1 {
		t.Errorf("it is %v", kept.Object)
	}
}

// What goes on for a bundle that is deleted ends: the reconciler hears of it, whatever the
// class was. Of an instance it hears nothing.
func TestDeleted(t *testing.T) {
	client, work := fake.NewSimpleDynamicClient(runtime.NewScheme()), &notes{}
	control := &Controller{Client: client, Reconciler: work}
	for _, kind := range []string{v1alpha1.KindBundle, v1alpha1.KindInstance} {
		if err := control.one(t.Context(), Key{kind, "gone"}, nil, []string{v1alpha1.ClassPlain}); err != nil {
			t.Error(err)
		}
	}
	if !slices.Equal(work.done, []string{"bundle gone"}) {
		t.Errorf("worked on %v", work.done)
	}
}
