package instance

import (
	"strings"
	"testing"

	dynamicfake "k8s.io/client-go/dynamic/fake"

	"github.com/berthdev/berth/api/bundle/v1alpha1"
	"github.com/berthdev/berth/internal/bundle/content"
	"github.com/berthdev/berth/internal/bundle/resource"
	"github.com/berthdev/berth/internal/bundle/source"
	"github.com/berthdev/berth/internal/fault"
)

// uninstalling is an instance whose uninstallation has begun.
func uninstalling() *v1alpha1.Instance {
	in := with("example.com/a:v1", 1)
	in.ResourceVersion = "7"
	in.Annotations = map[string]string{v1alpha1.AnnotationUninstalling: "then", "theirs": "x"}
	return in
}

// An uninstallation says that it has begun, once.
func TestBegin(t *testing.T) {
	r, client := fakeCluster(t, with("example.com/a:v1", 1), func(*dynamicfake.FakeDynamicClient) {})
	held, err := r.lock(t.Context(), "shop", forUninstall, quiet())
	if err != nil {
		t.Fatal(err)
	}
	defer releaseLock(t.Context(), held)
	for range 2 {
		in, err := r.objects().Instance(t.Context(), "shop")
		if err != nil {
			t.Fatal(err)
		}
		u := removal{Reconciler: r, name: "shop", known: Snapshot{Instance: in}, held: held}
		if err := u.begin(t.Context()); err != nil || !resource.IsUninstalling(in) {
			t.Errorf("%v, %v", in.Annotations, err)
		}
	}
	patches := 0
	for _, action := range client.Actions() {
		if action.GetVerb() == "patch" {
			patches++
		}
	}
	if patches != 1 {
		t.Errorf("it is said %d times", patches)
	}
}

// What an uninstallation has begun to remove is not put back by a pass.
func TestPassOfAnUninstalling(t *testing.T) {
	r, client := fakeCluster(t, uninstalling(), func(*dynamicfake.FakeDynamicClient) {})
	if _, err := r.Instance(t.Context(), "shop", UntilInstalled, quiet()); err != nil {
		t.Error(err)
	}
	for _, action := range client.Actions() {
		if verb := action.GetVerb(); verb != "get" && verb != "list" {
			t.Errorf("%s %s", verb, action.GetResource().Resource)
		}
	}
}

// An installation takes the mark off, also if nothing else of the instance changes.
func TestInstallOfAnUninstalling(t *testing.T) {
	r, _ := fakeCluster(t, uninstalling(), func(*dynamicfake.FakeDynamicClient) {})
	in, err := r.objects().Instance(t.Context(), "shop")
	if err != nil {
		t.Fatal(err)
	}
	wanted, err := instanceOf(Request{Name: "shop", Class: v1alpha1.ClassPlain, Content: &content.Content{}})
	if err != nil {
		t.Fatal(err)
	}
	wanted.Spec = in.Spec
	got, err := r.objects().SetInstance(t.Context(), wanted, in)
	if err != nil || resource.IsUninstalling(got) || got.Annotations["theirs"] != "x" ||
		!resource.Same(got.Spec, in.Spec) {
		t.Errorf("%+v, %v", got, err)
	}
}

// What is recorded in another system namespace is neither shown as empty, nor worked on,
// and the error names that namespace.
func TestAnotherSystemNamespace(t *testing.T) {
	in := with("example.com/a:v1", 1)
	r, client := fakeCluster(t, in, func(*dynamicfake.FakeDynamicClient) {})
	if err := r.objects().CreateBundle(t.Context(), resource.NewBundle(in, "hash", 0, r.System)); err != nil {
		t.Fatal(err)
	}
	if _, err := r.Snapshot(t.Context(), "shop"); err != nil {
		t.Fatal(err)
	}
	client.ClearActions()
	other := r
	other.System = "elsewhere"
	_, knowing := other.Snapshot(t.Context(), "shop")
	_, passing := other.Instance(t.Context(), "shop", UntilInstalled, quiet())
	_, removing := other.Uninstall(t.Context(), "shop", Removing{}, quiet())
	for _, err := range []error{knowing, passing, removing} {
		if f := fault.From(err); f.Code != fault.Conflict ||
			!strings.Contains(f.Message, "namespace ns, not in elsewhere") || f.Hint != "add --system-namespace ns" {
			t.Errorf("%v, %q", err, f.Hint)
		}
	}
	for _, action := range client.Actions() {
		if verb := action.GetVerb(); verb != "get" && verb != "list" {
			t.Errorf("%s %s", verb, action.GetResource().Resource)
		}
	}
}

// A bundle that is recorded in another system namespace is left alone: what was uploaded for it
// is there, so that its status would say that it is waited for.
func TestABundleOfAnotherSystemNamespaceIsLeftAlone(t *testing.T) {
	for system, alone := range map[string]bool{"theirs": true, "ns": false} {
		r, client := fakeCluster(t, nil, nil)
		b := &v1alpha1.Bundle{Spec: v1alpha1.BundleSpec{
			ProvisionerClassName: v1alpha1.ClassPlain,
			Source:               v1alpha1.Source{Type: v1alpha1.SourceUpload, Upload: &v1alpha1.UploadSource{}},
		}}
		b.TypeMeta, b.Name, b.UID = resource.TypeMeta(v1alpha1.KindBundle), "shop-1", "1"
		b.Annotations = map[string]string{v1alpha1.AnnotationSystemNamespace: system}
		b.Status.Phase = v1alpha1.PhaseUnpacked
		object, err := resource.Encode(b)
		if err != nil {
			t.Fatal(err)
		}
		if err := client.Tracker().Create(v1alpha1.Bundles(), object, ""); err != nil {
			t.Fatal(err)
		}
		r.BaseURL, r.Fetcher = "https://content.example.com",
			source.Fetcher{
				Cluster: &source.Cluster{Client: r.Own.CoreV1(), Namespace: r.System},
				Cache:   content.NewCache(t.TempDir(), 1<<20), Limits: content.DefaultLimits(),
			}
		_ = r.unpacker(v1alpha1.KindBundle).Bundle(t.Context(), b.Name, quiet()) // nothing was uploaded
		now, err := r.objects().Bundle(t.Context(), b.Name)
		if err != nil {
			t.Fatal(err)
		}
		if (now.Status.Phase == v1alpha1.PhaseUnpacked) != alone {
			t.Errorf("recorded in %s: %s", system, now.Status.Phase)
		}
	}
}
