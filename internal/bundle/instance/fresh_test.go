package instance

import (
	"sync"
	"testing"
	"time"

	helm "helm.sh/helm/v3/pkg/release"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	dynamicfake "k8s.io/client-go/dynamic/fake"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"

	"github.com/berthdev/berth/api/bundle/v1alpha1"
	"github.com/berthdev/berth/internal/bundle/content"
	"github.com/berthdev/berth/internal/bundle/format"
	"github.com/berthdev/berth/internal/bundle/resource"
	"github.com/berthdev/berth/internal/event"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/kube"
)

// fakeCluster has an instance, or none if that is nil, and does something when a lock is
// taken.
func fakeCluster(t *testing.T, in *v1alpha1.Instance, locked func(client *dynamicfake.FakeDynamicClient)) (Reconciler,
	*dynamicfake.FakeDynamicClient,
) {
	t.Helper()
	client, core := dynamicfake.NewSimpleDynamicClientWithCustomListKinds(runtime.NewScheme(),
		map[schema.GroupVersionResource]string{
			v1alpha1.Instances(): "BundleInstanceList", v1alpha1.Bundles(): "BundleList",
		}), fake.NewClientset()
	if in != nil {
		put(t, client, in)
	}
	once := sync.OnceFunc(func() { locked(client) })
	core.PrependReactor("create", "leases", func(clienttesting.Action) (bool, runtime.Object, error) {
		once()
		return false, nil, nil
	})
	own := &kube.Client{Interface: core, Dynamic: client}
	return Reconciler{Own: own, Installs: own, System: "ns", Now: time.Now}, client
}

// put makes an object what the cluster has.
func put(t *testing.T, client *dynamicfake.FakeDynamicClient, in *v1alpha1.Instance) {
	t.Helper()
	made := *in
	made.TypeMeta = resource.TypeMeta(v1alpha1.KindInstance)
	object, err := resource.Encode(made)
	if err != nil {
		t.Fatal(err)
	}
	tracker := client.Tracker()
	_ = tracker.Delete(v1alpha1.Instances(), "", in.Name)
	if err := tracker.Create(v1alpha1.Instances(), object, ""); err != nil {
		t.Fatal(err)
	}
}

func quiet() *event.Steps { return event.NewSteps(event.NewStream("", time.Now), time.Now) }

// with is the instance with another source, as the API server counts that.
func with(ref string, generation int64) *v1alpha1.Instance {
	in := &v1alpha1.Instance{
		ObjectMeta: metav1.ObjectMeta{Name: "shop", UID: "1", Generation: generation},
		Spec:       v1alpha1.InstanceSpec{ProvisionerClassName: v1alpha1.ClassPlain},
		Status:     v1alpha1.InstanceStatus{ObservedGeneration: 2},
	}
	in.Spec.Template.Spec = v1alpha1.BundleSpec{
		ProvisionerClassName: v1alpha1.ClassPlain,
		Source:               v1alpha1.Source{Type: v1alpha1.SourceImage, Image: &v1alpha1.ImageSource{Ref: ref}},
	}
	return in
}

// An installation whose instance was changed, created or deleted until it had the lock
// writes nothing.
func TestInstallOfWhatWasChanged(t *testing.T) {
	recreated := with("127.0.0.1:1/a:v1", 1)
	recreated.UID = types.UID("2")
	for name, test := range map[string]struct{ planned, now *v1alpha1.Instance }{
		"another wants something else": {with("127.0.0.1:1/a:v1", 1), with("127.0.0.1:1/a:v2", 2)},
		"another has created it":       {nil, with("127.0.0.1:1/a:v1", 1)},
		"it was uninstalled":           {with("127.0.0.1:1/a:v1", 1), nil},
		"it was installed again":       {with("127.0.0.1:1/a:v1", 1), recreated},
	} {
		t.Run(name, func(t *testing.T) {
			r, client := fakeCluster(t, test.planned, func(client *dynamicfake.FakeDynamicClient) {
				if test.now != nil {
					put(t, client, test.now)
				} else if err := client.Tracker().Delete(v1alpha1.Instances(), "", "shop"); err != nil {
					t.Error(err)
				}
			})
			q := Request{
				Name: "shop", Class: v1alpha1.ClassPlain, Content: &content.Content{Digest: "sha256:1"},
				Package: &format.Package{},
			}
			if test.planned != nil {
				q.Source = test.planned.Spec.Template.Spec.Source
			}
			k, err := r.Snapshot(t.Context(), "shop")
			if err != nil {
				t.Fatal(err)
			}
			_, err = r.Install(t.Context(), q, k, quiet())
			if fault.CodeOf(err) != fault.Conflict {
				t.Errorf("%v", err)
			}
			for _, action := range client.Actions() {
				if verb := action.GetVerb(); verb != "get" && verb != "list" {
					t.Errorf("%s %s", verb, action.GetResource().Resource)
				}
			}
		})
	}
}

// A pass works on what the instance says once it has the lock.
func TestPassOfWhatWasChanged(t *testing.T) {
	next := with("127.0.0.1:1/a:v2", 2)
	r, client := fakeCluster(t, with("127.0.0.1:1/a:v1", 1),
		func(client *dynamicfake.FakeDynamicClient) { put(t, client, next) })
	_, _ = r.Instance(t.Context(), "shop", UntilInstalled, quiet()) // fails later: nobody has that image
	hash, err := resource.TemplateHash(next.Spec.Template)
	if err != nil {
		t.Fatal(err)
	}
	made, err := client.Resource(v1alpha1.Bundles()).List(t.Context(), metav1.ListOptions{})
	if err != nil || len(made.Items) != 1 || made.Items[0].GetLabels()[v1alpha1.LabelTemplateHash] != hash {
		t.Errorf("%v, %v", made, err)
	}
}

// What is gone once an uninstallation has the lock is not uninstalled again.
func TestUninstallOfWhatIsGone(t *testing.T) {
	r, _ := fakeCluster(t, with("127.0.0.1:1/a:v1", 1), func(client *dynamicfake.FakeDynamicClient) {
		if err := client.Tracker().Delete(v1alpha1.Instances(), "", "shop"); err != nil {
			t.Error(err)
		}
	})
	if _, err := r.Uninstall(t.Context(), "shop", Removing{}, quiet()); fault.CodeOf(err) != fault.NotFound {
		t.Errorf("%v", err)
	}
}

// A chart is read with a release; once another run has written that, it is read again.
func TestSameRecord(t *testing.T) {
	record := func(revision int, version string) *helm.Release {
		return &helm.Release{Version: revision, Labels: map[string]string{"resourceVersion": version}}
	}
	for name, test := range map[string]struct {
		a, b *helm.Release
		want bool
	}{
		"none":          {nil, nil, true},
		"a first one":   {nil, record(1, "1"), false},
		"it is gone":    {record(1, "1"), nil, false},
		"the same":      {record(1, "1"), record(1, "1"), true},
		"written since": {record(1, "1"), record(1, "2"), false},
		"the next one":  {record(1, "1"), record(2, "3"), false},
	} {
		if got := sameRecord(test.a, test.b); got != test.want {
			t.Errorf("%s: %t", name, got)
		}
	}
}
