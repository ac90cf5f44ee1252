//go:build e2e

package e2e

import (
	"encoding/base64"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	ocispec "github.com/opencontainers/image-spec/specs-go/v1"

	"github.com/berthdev/berth/api/bundle/v1alpha1"
	"github.com/berthdev/berth/internal/registrytest"
)

// instanceOf is the instance of the world, of a class and with a source in JSON.
func (w *world) instanceOf(class, source string) string {
	return fmt.Sprintf(`
apiVersion: core.rukpak.io/v1alpha1
kind: BundleInstance
metadata: {name: %s}
spec:
  provisionerClassName: %s
  config: {namespace: %s}
  template: {spec: {provisionerClassName: %s, source: %s}}
`, w.instance(), class, w.namespace, class, source)
}

// refuses waits until the server says of the instance, and of the bundle that it wants, why that is not taken.
func (w *world) refuses(words ...string) {
	w.Helper()
	says := func(text string) bool {
		for _, word := range words {
			if !strings.Contains(text, word) {
				return false
			}
		}
		return strings.HasPrefix(text, "False/")
	}
	last := ""
	w.Cleanup(func() {
		if w.Failed() {
			w.Logf("what was said last: %s", last)
		}
	})
	w.eventually("what is not signed is refused with why", func() bool {
		in := w.wanted()
		last = condition(in.Status.Conditions, v1alpha1.ConditionHasValidBundle)
		for _, b := range w.bundlesOf() { // those of earlier sources stay until one is installed
			unpacked := condition(b.Status.Conditions, v1alpha1.ConditionUnpacked)
			last += "\n" + unpacked
			if b.Name != in.Status.InstalledBundleName && says(unpacked) && b.Status.Digest == "" {
				return says(condition(in.Status.Conditions, v1alpha1.ConditionHasValidBundle))
			}
		}
		return false
	})
}

// signedBy makes sure of what the server says of a bundle that it has taken.
func (w *world) signedBy(b *v1alpha1.Bundle, words ...string) {
	w.Helper()
	w.contains(condition(b.Status.Conditions, v1alpha1.ConditionUnpacked),
		append(words, "True/", "; signed by key ")...)
}

// A server that requires signatures takes an instance whose image is signed, and says by whom. One that is not is
// refused with why, and taken when the signature is pushed later. Of an upgrade to what is not signed, what is
// installed stays. It runs here, where a registry without TLS is on loopback.
func testServeSignedImages(t *testing.T) {
	w := newWorldAlone(t)
	w.kubeconfig, w.limited = w.admin, w.config
	at := registrytest.Start(w).Repository("org/app")
	public, sign := w.cosign(at)
	_, other := w.cosign(at)
	push := func(version, text string) ocispec.Descriptor {
		return at.Image(version, ocispec.MediaTypeImageLayerGzip,
			packed(w, map[string]string{"manifests/all.yaml": configMap("a", text)}))
	}
	image := func(version string) string {
		return w.instanceOf(v1alpha1.ClassPlain, fmt.Sprintf(`{type: image, image: {ref: %q}}`, at.Ref(":"+version)))
	}
	t.Cleanup(func() { w.output("delete", "bundleinstances.core.rukpak.io", w.instance(), "--ignore-not-found") })
	w.apply(w.must(0, "bundle", "definitions").stdout)
	cmd := w.command("serve", "bundles", "--system-namespace", w.namespace, "--listen", freePort(t), "--metrics-listen",
		freePort(t), "--allow-system")
	cmd.Env = append(cmd.Env, "XDG_CACHE_HOME="+t.TempDir(), "BERTH_CONFIG="+w.write(t.TempDir(), "config.yaml",
		"bundles: {verify: required, keys: ["+public+"]}\n"))
	w.launch(cmd).waitFor(`"leadership"`)

	late := push("1.0.0", "one")
	w.apply(image("1.0.0"))
	w.refuses("no signature was found")
	w.says(map[string]string{})
	sign(late, late)
	w.signedBy(w.installedBundle())
	w.says(map[string]string{"a": "one"})

	theirs := push("1.1.0", "two")
	other(theirs, theirs)
	w.apply(image("1.1.0"))
	w.refuses("it is signed with another key")
	w.says(map[string]string{"a": "one"})

	own := push("1.2.0", "three")
	sign(own, own)
	w.apply(image("1.2.0"))
	w.signedBy(w.installedBundle())
	w.says(map[string]string{"a": "three"})

	w.apply(contentOf("plain", configMap("a", "four")), w.plainOf(v1alpha1.ClassPlain, "plain"))
	w.refuses("what is in ConfigMaps cannot be verified")
	w.says(map[string]string{"a": "three"})
}

// fileServer sends the files that are put into its directory.
const fileServer = `mkdir -p /tmp/www; exec httpd -f -p 8080 -h /tmp/www`

// files runs a web server in the cluster, as the Service files, and gives what puts a file there.
func (w *world) files() (put func(file string)) {
	w.Helper()
	w.apply(`
apiVersion: v1
kind: Service
metadata: {name: files}
spec: {selector: {app: files}, ports: [{port: 80, targetPort: 8080}]}
---
apiVersion: v1
kind: Pod
metadata: {name: files, labels: {app: files}}
spec:
  terminationGracePeriodSeconds: 0
  ` + restricted + `
  containers:
    - name: files
      image: registry.example.com/berth/workspace:git
      command: [sh, -ec, ` + strconv.Quote(fileServer) + `]
      readinessProbe: {tcpSocket: {port: 8080}, periodSeconds: 1}
      ` + restrictedContainer + `
`)
	w.kubectl("wait", "--for=condition=Ready", "pod/files", "--timeout=120s")
	return func(file string) {
		w.Helper()
		content, err := os.ReadFile(file)
		if err != nil {
			w.Fatal(err)
		}
		// As an argument: an input that ends before the program has begun gets lost in the container runtime.
		w.kubectl("exec", "files", "--", "sh", "-c", "echo "+base64.StdEncoding.EncodeToString(content)+
			" | base64 -d >/tmp/www/new && mv /tmp/www/new /tmp/www/"+filepath.Base(file))
	}
}

// The server that `berth serve manifests bundles --configuration` prints has the keys of that file, and requires
// signatures of archives as well: one whose provenance comes later is taken then.
func testServeSignedArchives(t *testing.T) {
	keys := newProvenances(&world{T: t})
	w := newServing(t, "cluster-admin", "--configuration", keys.write(t.TempDir(), "config.yaml",
		"bundles: {verify: required, keyring: "+keys.alice.Ring+"}\n"))
	keys.world = w
	put := w.files()
	archive := func(version string) string {
		return w.instanceOf(v1alpha1.ClassHelm, fmt.Sprintf(
			`{type: http, http: {url: "http://files.%s.svc.cluster.local/web-%s.tgz"}}`, w.namespace, version))
	}
	late := keys.pack("1.0.0", configMap("a", "one"), signed)
	put(late)
	w.apply(archive("1.0.0"))
	w.refuses("no signature was found")
	w.says(map[string]string{})
	put(late + ".prov")
	w.signedBy(w.installedBundle(), keys.alice.ID, "(alice")
	w.says(map[string]string{"a": "one"})

	for _, theirs := range []struct {
		version string
		as      how
		says    string
	}{{"1.1.0", byAnother, "is not in the keyring"}, {"1.1.1", madeToFit, "is not of this text"}} {
		file := keys.pack(theirs.version, configMap("a", "two"), theirs.as)
		put(file)
		put(file + ".prov")
		w.apply(archive(theirs.version))
		w.refuses(theirs.says)
		w.says(map[string]string{"a": "one"})
	}
	file := keys.pack("1.2.0", configMap("a", "three"), signed)
	put(file)
	put(file + ".prov")
	w.apply(archive("1.2.0"))
	w.signedBy(w.installedBundle())
	w.says(map[string]string{"a": "three"})
}
