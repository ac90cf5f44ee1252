//go:build e2e

package e2e

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/berthdev/berth/api/bundle/v1alpha1"
	v1 "github.com/berthdev/berth/api/v1"
)

// inFormat is a bundle of a format with a ConfigMap a. Whatever of it is in no namespace
// has a name of this world.
func (w *world) inFormat(format, text string) map[string]string {
	switch format {
	case "plain+v0":
		return map[string]string{"manifests/a.yaml": configMap("a", text)}
	case "helm":
		return map[string]string{
			"Chart.yaml": "{apiVersion: v2, name: boat, version: 1.2.3}", "values.yaml": fmt.Sprintf("text: %q", text),
			"templates/a.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n" +
				"data: {text: {{ .Values.text | quote }}}\n",
		}
	}
	return map[string]string{
		"metadata/annotations.yaml": "annotations: {operators.operatorframework.io.bundle.package.v1: boat}",
		"manifests/a.yaml":          configMap("a", text),
		"manifests/boat.clusterserviceversion.yaml": fmt.Sprintf(`
apiVersion: operators.coreos.com/v1alpha1
kind: ClusterServiceVersion
metadata: {name: boat-%[1]s.v1.2.3, annotations: {operatorframework.io/suggested-namespace: %[1]s-operator}}
spec:
  version: 1.2.3
  installModes: [{type: AllNamespaces, supported: true}]
  install:
    strategy: deployment
    spec:
      deployments:
      - name: boat
        spec:
          replicas: 0
          selector: {matchLabels: {app: boat}}
          template:
            metadata: {labels: {app: boat}}
            spec: {serviceAccountName: boat, containers: [{name: boat, image: "%[2]s"}]}
      clusterPermissions:
      - {serviceAccountName: boat, rules: [{apiGroups: [""], resources: [configmaps], verbs: [get]}]}
`, w.namespace, workspaceImage),
	}
}

// resolved is what a bundle was resolved to.
func (w *world) resolved(bundle string) v1alpha1.Source {
	w.Helper()
	text, err := w.CoreV1().RESTClient().Get().AbsPath("/apis/core.rukpak.io/v1alpha1/bundles/" + bundle).
		DoRaw(w.Context())
	var b v1alpha1.Bundle
	if err == nil {
		err = json.Unmarshal(text, &b)
	}
	if err != nil || b.Status.ResolvedSource == nil {
		w.Fatalf("bundle %s is resolved to nothing: %v, %+v", bundle, err, b.Status)
	}
	return *b.Status.ResolvedSource
}

// hasInstalled makes sure that the instance is healthy, and that its ConfigMap a says
// this.
func (w *world) hasInstalled(text string) {
	w.Helper()
	state := decode[v1.BundleState](w, w.bundle(0, "status", "--output", "json"))
	if state.State != v1.BundleHealthy || len(state.Bundles) != 1 || state.Bundles[0].Name != state.Installed {
		w.Errorf("%+v", state)
	}
	said := ""
	for _, o := range state.Objects {
		if o.State != "Current" {
			w.Errorf("%+v", o)
		}
		if o.Object == "configmap/a" {
			found, err := w.CoreV1().ConfigMaps(o.Namespace).Get(w.Context(), "a", metav1.GetOptions{})
			if err != nil {
				w.Fatal(err)
			}
			said = found.Data["text"]
		}
	}
	if said != text {
		w.Errorf("what is installed says %q, want %q: %+v", said, text, state.Objects)
	}
}

// Each source with each format is installed, pinned to exactly what it was, and
// uninstalled.
func TestBundleSources(t *testing.T) {
	t.Parallel()
	for source, from := range map[string]func(w *world, private bool) *origin{
		"image": anImage, "git": aRepository, "http": anArchive, "ConfigMaps": theConfigMaps,
		"directory": aDirectory, "archive": aFile, "stdin": standardInput,
	} {
		for format, objects := range map[string]int{"plain+v0": 1, "helm": 1, "registry+v1": 6} {
			t.Run(source+" "+format, func(t *testing.T) {
				w := newBundles(t)
				o := from(w, false)
				o.put(w.inFormat(format, "one"))
				i := decode[v1.BundleInstallation](w, o.run(w, 0, "install", "--output", "json"))
				if i.Action != v1.BundleInstalled || i.Content.Format != format || i.Objects.Created != objects ||
					!i.Healthy {
					t.Errorf("%+v", i)
				}
				if diff := cmp.Diff(o.pinned(i.Content.Digest), w.resolved(i.Bundle)); diff != "" {
					t.Error(diff)
				}
				w.hasInstalled("one")
				again := decode[v1.BundleInstallation](w, o.run(w, 0, "install", "--output", "json"))
				if again.Action != v1.BundleUnchanged || again.Bundle != i.Bundle {
					t.Errorf("%+v", again)
				}
				w.uninstalled()
			})
		}
	}
}

// A tag, a branch or a file that has moved is resolved again by the next install, which
// upgrades to what it is now.
func TestBundleSourceMoves(t *testing.T) {
	t.Parallel()
	for source, from := range map[string]func(w *world, private bool) *origin{
		"tag": anImage, "branch": aRepository,
		"file": anArchive,
	} {
		t.Run(source, func(t *testing.T) {
			w := newBundles(t)
			o := from(w, false)
			o.put(w.inFormat("plain+v0", "one"))
			first := decode[v1.BundleInstallation](w, o.run(w, 0, "install", "--output", "json"))
			o.put(w.inFormat("plain+v0", "two"))
			w.contains(o.run(w, 0, "diff").stdout, "-  text: one", "+  text: two")
			w.hasInstalled("one")
			second := decode[v1.BundleInstallation](w, o.run(w, 0, "install", "--output", "json"))
			if second.Action != v1.BundleUpgraded || second.Previous != first.Bundle || second.Bundle == first.Bundle {
				t.Errorf("%+v", second)
			}
			if diff := cmp.Diff(o.pinned(second.Content.Digest), w.resolved(second.Bundle)); diff != "" {
				t.Error(diff)
			}
			w.hasInstalled("two")
			w.uninstalled()
		})
	}
}

// A private source takes the Secret that --source-secret names. Without it, or with
// another password, nothing is installed, and what is wrong is said.
func TestBundleSourceSecret(t *testing.T) {
	t.Parallel()
	for source, from := range map[string]func(w *world, private bool) *origin{
		"image": anImage, "git": aRepository,
		"http": anArchive,
	} {
		t.Run(source, func(t *testing.T) {
			w := newBundles(t)
			o := from(w, true)
			o.put(w.inFormat("plain+v0", "one"))
			w.contains(o.run(w, 4, "install").stderr, "UNAUTHENTICATED", o.host, "requires a login", "--source-secret")
			w.contains(o.run(w, 7, "install", "--source-secret", "login").stderr, "NOT_FOUND",
				"secret/login does not exist in namespace "+w.namespace)
			w.loginFor(o, "wrong", "incorrect-horse")
			wrong := o.run(w, 4, "install", "--source-secret", "wrong")
			w.contains(wrong.stderr, "UNAUTHENTICATED", o.host, "the login from secret/wrong")
			w.bundle(7, "status")
			w.loginFor(o, "login", gitPassword)
			w.contains(o.run(w, 0, "diff", "--source-secret", "login").stdout, "+  text: one")
			i := decode[v1.BundleInstallation](w, o.run(w, 0, "install", "--source-secret", "login", "--output",
				"json"))
			want := o.pinned(i.Content.Digest)
			auth := &v1alpha1.Authorization{Secret: v1alpha1.LocalReference{Name: "login"}}
			switch {
			case want.Image != nil:
				want.Image.PullSecret = "login"
			case want.Git != nil:
				want.Git.Auth = auth
			default:
				want.HTTP.Auth = auth
			}
			if diff := cmp.Diff(want, w.resolved(i.Bundle)); diff != "" {
				t.Error(diff)
			}
			w.hasInstalled("one")
			w.uninstalled()
		})
	}
}

// Without a Secret, a private source is fetched with the login that the caller has for
// docker or git, which stays with the caller.
func TestBundleSourceOwnLogin(t *testing.T) {
	t.Parallel()
	for source, from := range map[string]func(w *world, private bool) *origin{"image": anImage, "git": aRepository} {
		t.Run(source, func(t *testing.T) {
			w := newBundles(t)
			o := from(w, true)
			o.env = append(o.env, o.own...)
			o.put(w.inFormat("plain+v0", "one"))
			i := decode[v1.BundleInstallation](w, o.run(w, 0, "install", "--output", "json"))
			if diff := cmp.Diff(o.pinned(i.Content.Digest), w.resolved(i.Bundle)); diff != "" {
				t.Error(diff)
			}
			w.hasInstalled("one")
			w.uninstalled()
		})
	}
}
