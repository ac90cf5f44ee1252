package instance

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	dynamicfake "k8s.io/client-go/dynamic/fake"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"

	"github.com/berthdev/berth/api/bundle/v1alpha1"
	"github.com/berthdev/berth/internal/bundle/content"
	"github.com/berthdev/berth/internal/bundle/format"
	"github.com/berthdev/berth/internal/fault"
)

const (
	inDefault   = "{apiVersion: v1, kind: ConfigMap, metadata: {name: a}}\n"
	inShop      = "{apiVersion: v1, kind: ConfigMap, metadata: {name: b, namespace: shop}}\n"
	shopItself  = "{apiVersion: v1, kind: Namespace, metadata: {name: shop}}\n"
	clusterWide = "{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, metadata: {name: c}}\n"
	boat        = "{apiVersion: example.com/v1, kind: Boat, metadata: {name: a}}\n"
)

// A first installation that has no place in the cluster writes nothing, and says what to do.
func TestPlacesAreCheckedBeforeAnythingIsWritten(t *testing.T) {
	forbid := func(core *fake.Clientset) {
		core.PrependReactor("get", "namespaces", func(clienttesting.Action) (bool, runtime.Object, error) {
			return true, nil, apierrors.NewForbidden(corev1.Resource("namespaces"), "team", errors.New("no"))
		})
	}
	for name, test := range map[string]struct {
		objects   string
		there     []string // namespaces
		cluster   func(*fake.Clientset)
		want      string // of the error
		hint      string
		exitsWith fault.Code
	}{
		"into a namespace that does not exist": {
			objects: inDefault, want: "namespace team does not exist", hint: "--create-namespace",
			exitsWith: fault.NotFound,
		},
		"an object names a namespace that does not exist": {
			objects: inDefault + inShop, there: []string{"team"}, want: "namespace shop does not exist",
			hint: "add it to the bundle", exitsWith: fault.NotFound,
		},
		"the bundle brings the namespace": {objects: shopItself + inShop},
		"nothing goes into any namespace": {objects: clusterWide},
		"all of them exist":               {objects: inDefault + inShop, there: []string{"team", "shop"}},
		"the namespace may not be read":   {objects: inDefault, cluster: forbid},
		"a kind that the cluster has not got": {
			objects: boat, there: []string{"team"}, want: "does not have these kinds",
			exitsWith: fault.Failed,
		},
	} {
		t.Run(name, func(t *testing.T) {
			r, client := fakeCluster(t, nil, func(*dynamicfake.FakeDynamicClient) {})
			core := r.Own.Interface.(*fake.Clientset)
			for _, namespace := range test.there {
				if _, err := core.CoreV1().Namespaces().
					Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}},
						metav1.CreateOptions{}); err != nil {
					t.Fatal(err)
				}
			}
			if test.cluster != nil {
				test.cluster(core)
			}
			q := Request{
				Name: "web", Class: v1alpha1.ClassPlain, Config: v1alpha1.Config{Namespace: "team"},
				Content: &content.Content{Digest: "sha256:1"},
				Package: &format.Package{Objects: parsed(t, test.objects)},
			}
			if test.want == "" {
				if err := r.checkPlaces(t.Context(), q); err != nil {
					t.Error(err)
				}
				return
			}
			_, err := r.Install(t.Context(), q, Snapshot{}, quiet())
			if f := fault.From(err); err == nil || f.Code != test.exitsWith ||
				!strings.Contains(f.Message, test.want) ||
				!strings.Contains(f.Hint, test.hint) {
				t.Errorf("%+v", f)
			}
			actions := slices.Concat(client.Actions(), core.Actions())
			for _, action := range actions {
				if action.GetVerb() == "create" && action.GetResource().Resource != "namespaces" {
					t.Errorf("%s is created", action.GetResource().Resource)
				}
			}
		})
	}
}

// What a failed first installation has written is named, with the way to remove it.
func TestWhatRemainsOfAFailedInstallation(t *testing.T) {
	in := func(installed string) *v1alpha1.Instance {
		in := with("example.com/a:v1", 1)
		in.Status.InstalledBundleName = installed
		return in
	}
	refused := func() error { return fault.New(fault.Failed, "quota").WithHint("ask for more") }
	uninstall := "bundle shop is listed though it is not installed: install it again, or remove it with `berth " +
		"bundle uninstall shop`"
	for name, test := range map[string]struct {
		in   *v1alpha1.Instance
		err  error
		want string // hint
	}{
		"it was refused":               {in(""), refused(), "ask for more; " + uninstall},
		"it has no hint of its own":    {in(""), context.Canceled, uninstall},
		"an upgrade was refused":       {in("shop-1"), refused(), "ask for more"},
		"the instance was not written": {nil, refused(), "ask for more"},
	} {
		err := remains(test.in, test.err)
		if got := fault.From(err).Hint; got != test.want {
			t.Errorf("%s: %q", name, got)
		}
	}
	if err := remains(in(""), nil); err != nil {
		t.Error(err)
	}
}
