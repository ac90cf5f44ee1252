package instance

import (
	"errors"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	dynamicfake "k8s.io/client-go/dynamic/fake"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"

	"github.com/berthdev/berth/api/bundle/v1alpha1"
	"github.com/berthdev/berth/internal/bundle/content"
	"github.com/berthdev/berth/internal/bundle/installer"
	"github.com/berthdev/berth/internal/bundle/resource"
	"github.com/berthdev/berth/internal/bundle/source"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/reconcile"
)

// Wherever a pass ends, the instance says of each condition what is known: what is installed stays so, and its health,
// which nobody has looked at, is not what it was before.
func TestPassesThatEndEarly(t *testing.T) {
	fails := func(clienttesting.Action) (bool, runtime.Object, error) { return true, nil, errors.New("broken") }
	type cluster struct {
		*v1alpha1.Instance
		dynamic *dynamicfake.FakeDynamicClient
		core    *fake.Clientset
	}
	for name, test := range map[string]struct {
		breaks                    func(c cluster)
		valid, installed, healthy string
	}{
		"no bundle can be made": {
			func(c cluster) { c.dynamic.PrependReactor("create", "bundles", fails) },
			"False/BundleLoadFailed", "True/InstallationSucceeded", "Unknown/InstallationStatusFalse",
		},
		"it may not be installed as a ServiceAccount": {
			func(c cluster) { c.Spec.ServiceAccount = &v1alpha1.ServiceAccount{Namespace: "shop", Name: "deployer"} },
			"False/UnpackPending", "False/ErrorGettingClient", "Unknown/InstallationStatusFalse",
		},
		"the release cannot be read": {
			func(c cluster) { c.core.PrependReactor("list", "secrets", fails) },
			"False/UnpackPending", "Unknown/ErrorGettingReleaseState", "Unknown/InstallationStatusFalse",
		},
		"nothing can be fetched": {
			func(cluster) {}, "False/UnpackFailed", "True/InstallationSucceeded", "Unknown/InstallationStatusFalse",
		},
	} {
		t.Run(name, func(t *testing.T) {
			in := with("127.0.0.1:1/a:v1", 2)
			in.Status.InstalledBundleName = "shop-1"
			resource.Verdicts{
				Valid:     resource.Yes(v1alpha1.ReasonUnpackSuccessful, ""),
				Installed: resource.Yes(v1alpha1.ReasonInstallationSucceeded, ""),
				Healthy:   resource.Yes(v1alpha1.ReasonHealthy, ""),
			}.Apply(in, time.Unix(0, 0))
			in.Status.ObservedGeneration = 1
			r, client := fakeCluster(t, nil, func(*dynamicfake.FakeDynamicClient) {})
			r.Guard = &installer.Guard{Client: client, System: r.System, Now: time.Now}
			r.Fetcher = source.Fetcher{Cache: content.NewCache(t.TempDir(), 1<<20), Limits: content.DefaultLimits()}
			core, _ := r.Own.Interface.(*fake.Clientset)
			test.breaks(cluster{in, client, core})
			put(t, client, in)
			if _, err := r.Instance(t.Context(), "shop", UntilLookedAt, quiet()); err == nil {
				t.Error("it has worked")
			}
			now, err := r.objects().Instance(t.Context(), "shop")
			if err != nil {
				t.Fatal(err)
			}
			for kind, want := range map[string]string{
				v1alpha1.ConditionHasValidBundle: test.valid, v1alpha1.ConditionInstalled: test.installed,
				v1alpha1.ConditionHealthy: test.healthy,
			} {
				c := meta.FindStatusCondition(now.Status.Conditions, kind)
				if c == nil || string(c.Status)+"/"+c.Reason != want || c.ObservedGeneration != 2 ||
					c.Message == "" && c.Status != metav1.ConditionTrue {
					t.Errorf("%s is %+v, want %s", kind, c, want)
				}
			}
		})
	}
}

// A pass that knows why it could not look says that; one that waits for another bundle says so. What is not installed
// has no health that could be taken back.
func TestEndsEarly(t *testing.T) {
	broken := fault.New(fault.Unavailable, "the API server does not answer")
	for name, test := range map[string]struct {
		installed string
		looked    bool
		valid     resource.Verdict
		err       error
		want      string
	}{
		"a request fails": {
			"shop-1", false, resource.Yes("", ""), broken,
			"Unknown/ReconcileFailed: it has not been looked at: the API server does not answer",
		},
		"the bundle is fetched": {
			"shop-1", false, resource.No("", ""), reconcile.After(nil),
			"Unknown/InstallationStatusFalse: it has not been looked at since another bundle is wanted, which is not " +
				"ready to be installed yet",
		},
		"the bundle is wrong": {
			"shop-1", false, resource.No("", ""), broken,
			"Unknown/InstallationStatusFalse: it has not been looked at since the bundle could not be installed",
		},
		"it was looked at":     {"shop-1", true, resource.Yes("", ""), broken, "True/Healthy: "},
		"nothing is installed": {"", false, resource.No("", ""), broken, "True/Healthy: "},
	} {
		p := &pass{in: with("", 1), looked: test.looked}
		p.in.Status.InstalledBundleName = test.installed
		p.verdicts.Valid, p.verdicts.Healthy = test.valid, resource.Yes(v1alpha1.ReasonHealthy, "")
		p.endsEarly(test.err)
		v := p.verdicts.Healthy
		if got := string(v.Status) + "/" + v.Reason + ": " + v.Message; got != test.want {
			t.Errorf("%s: %q, want %q", name, got, test.want)
		}
	}
}
