//go:build e2e

package e2e

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/berthdev/berth/api/bundle/v1alpha1"
	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/certtest"
)

const foreignClass = "core-rukpak-io-plain"

// An instance of ours whose bundle another provisioner has unpacked is installed from
// where that one says, with the server's token; which goes to no other place.
func testServeBundleOfAnotherProvisioner(t *testing.T) {
	authority := certtest.New(t)
	w := newServing(t, "cluster-admin", "--content-ca", authority.File)
	w.provisioner(authority, configMap("a", "foreign"))
	w.apply(w.plainOf(foreignClass, "none"))
	w.eventually("the bundle is waited for", func() bool {
		return strings.HasPrefix(condition(w.wanted().Status.Conditions, v1alpha1.ConditionHasValidBundle),
			"False/UnpackPending") && len(w.bundlesOf()) == 1
	})
	w.unpacked("https://bundles.example.com/bundles/x.tgz")
	w.eventually("the token is refused to a stranger", func() bool {
		why := condition(w.wanted().Status.Conditions, v1alpha1.ConditionHasValidBundle)
		return strings.HasPrefix(why, "False/ReadingContentFailed") && strings.Contains(why, "bundles.example.com") &&
			strings.Contains(why, "--content-host")
	})
	w.unpacked("https://provisioner." + w.namespace + ".svc/bundles/x.tgz")
	w.installedBundle()
	w.says(map[string]string{"a": "foreign"})
	w.contains(w.output("logs", "provisioner"), "given to system:serviceaccount:"+w.namespace+":berth-bundles\n")
}

// The same from a terminal, which reaches a server outside of the cluster that it was
// told to trust.
func testReconcileBundleOfAnotherProvisioner(t *testing.T) {
	w := newWorldAlone(t)
	authority := certtest.New(t)
	everything := []rbacv1.PolicyRule{{APIGroups: []string{"*"}, Resources: []string{"*"}, Verbs: []string{"*"}}}
	w = w.as(grant{metav1.NamespaceAll, everything})
	w.apply(w.must(0, "bundle", "definitions").stdout)
	w.provisioner(authority, configMap("a", "foreign"))
	address := w.forwarded("provisioner", "8443")
	w.apply(w.plainOf(foreignClass, "none"))
	t.Cleanup(func() { w.kubectl("delete", "bundleinstances.core.rukpak.io", w.instance()) })
	reconcile := func(fails bool, args ...string) (said string) {
		t.Helper()
		d := decode[v1.BundleReconciliation](w,
			w.berth(append([]string{"bundle", "reconcile", "--system-namespace", w.namespace, "-o", "json"},
				args...)...))
		i := slices.IndexFunc(d.Items,
			func(o v1.ReconciledObject) bool { return o.Object == "bundleinstance/"+w.instance() })
		if i < 0 || (d.Items[i].Error != nil) != fails {
			t.Fatalf("the pass came to %+v", d.Items)
		}
		if fails {
			said = d.Items[i].Error.Message + "\n" + d.Items[i].Error.Hint
		}
		return said
	}
	w.contains(reconcile(true), "is not unpacked yet: its class "+foreignClass+" is not one of berth's")
	w.unpacked("https://provisioner." + w.namespace + ".svc/bundles/x.tgz")
	w.contains(reconcile(true), "a Service of the cluster", "berth serve bundles")
	w.unpacked("https://" + address + "/bundles/x.tgz")
	w.contains(reconcile(true), address, "--content-host "+address)
	w.contains(reconcile(true, "--content-host", address), "certificate", "--content-ca")
	if log := w.output("logs", "provisioner"); strings.Contains(log, "given to") || strings.Contains(log, "refused") {
		t.Errorf("a token was sent:\n%s", log)
	}
	reconcile(false, "--content-host", address, "--content-ca", authority.File)
	w.installedBundle()
	w.says(map[string]string{"a": "foreign"})
	w.contains(w.output("logs", "provisioner"), "given to system:serviceaccount:"+w.namespace+":"+w.account+"\n")
}

// unpacked says what the other provisioner says of the bundle of the world's instance.
func (w *world) unpacked(address string) {
	w.Helper()
	b := &w.bundlesOf()[0]
	source := b.Spec.Source
	b.Status = v1alpha1.BundleStatus{
		Phase: v1alpha1.PhaseUnpacked, ObservedGeneration: b.Generation, ResolvedSource: &source, ContentURL: address,
		Conditions: []metav1.Condition{{
			Type: v1alpha1.ConditionUnpacked, Status: metav1.ConditionTrue, Reason: v1alpha1.ReasonUnpackSuccessful,
			LastTransitionTime: metav1.Now(),
		}},
	}
	if err := w.objects().SetBundleStatus(w.Context(), b); err != nil {
		w.Fatal(err)
	}
}

// provisioner runs the other provisioner's server of content, with one bundle.
func (w *world) provisioner(authority *certtest.Authority, manifests ...string) {
	w.Helper()
	program := filepath.Join(w.TempDir(), "provisioner")
	build := exec.Command("go", "build", "-o", program, "./testdata/provisioner")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		w.Fatalf("%v\n%s", err, out)
	}
	pair := authority.Issue(time.Now().Add(time.Hour), "provisioner."+w.namespace+".svc", "127.0.0.1")
	secret := &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Name: "provisioner"}, Type: corev1.SecretTypeTLS,
		Data: map[string][]byte{
			corev1.TLSCertKey: w.file(pair.Cert), corev1.TLSPrivateKeyKey: w.file(pair.Key),
		},
	}
	content := &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Name: "provisioner"},
		BinaryData: map[string][]byte{"bundle.tgz": w.archive(strings.Join(manifests, "\n---\n"))},
	}
	_, err := w.CoreV1().Secrets(w.namespace).Create(w.Context(), secret, metav1.CreateOptions{})
	if err == nil {
		_, err = w.CoreV1().ConfigMaps(w.namespace).Create(w.Context(), content, metav1.CreateOptions{})
	}
	if err != nil {
		w.Fatal(err)
	}
	w.bindEverywhere(w.namespace+"-provisioner", []rbacv1.PolicyRule{{
		APIGroups: []string{"authentication.k8s.io"}, Resources: []string{"tokenreviews"}, Verbs: []string{"create"},
	}}, []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Name: "default", Namespace: w.namespace}})
	w.apply(`
apiVersion: v1
kind: Service
metadata: {name: provisioner}
spec: {selector: {app: provisioner}, ports: [{port: 443, targetPort: 8443}]}
---
apiVersion: v1
kind: Pod
metadata: {name: provisioner, labels: {app: provisioner}}
spec:
  ` + restricted + `
  volumes: [{name: tls, secret: {secretName: provisioner}}, {name: content, configMap: {name: provisioner}}]
  containers:
    - name: provisioner
      image: registry.example.com/berth/berth:` + w.program(program) + `
      volumeMounts: [{name: tls, mountPath: /tls}, {name: content, mountPath: /content}]
      readinessProbe: {tcpSocket: {port: 8443}, periodSeconds: 1}
      ` + restrictedContainer + `
`)
	w.kubectl("wait", "--for=condition=Ready", "pod/provisioner", "--timeout=120s")
}

func (w *world) file(path string) []byte {
	w.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		w.Fatal(err)
	}
	return text
}

// archive is a bundle of manifests as a provisioner serves it.
func (w *world) archive(manifests string) []byte {
	w.Helper()
	var b bytes.Buffer
	zipped := gzip.NewWriter(&b)
	files := tar.NewWriter(zipped)
	err := files.WriteHeader(&tar.Header{
		Name: "manifests/all.yaml", Typeflag: tar.TypeReg, Mode: 0o644,
		Size: int64(len(manifests)),
	})
	if err == nil {
		_, err = files.Write([]byte(manifests))
	}
	for _, end := range []func() error{files.Close, zipped.Close} {
		if err == nil {
			err = end()
		}
	}
	if err != nil {
		w.Fatal(err)
	}
	return b.Bytes()
}
