package bundle_test

import (
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/commands/cmdtest"
	"github.com/berthdev/berth/internal/keypair"
	"github.com/berthdev/berth/internal/kubetest"
	"github.com/berthdev/berth/internal/schematest"
)

const webhookOperator = `apiVersion: operators.coreos.com/v1alpha1
kind: ClusterServiceVersion
metadata: {name: web.v1}
spec:
  version: 1.0.0
  installModes: [{type: AllNamespaces, supported: true}, {type: MultiNamespace, supported: true}]
  install:
    strategy: deployment
    spec:
      deployments:
      - name: web
        spec: {selector: {matchLabels: {app: web}}, template: {metadata: {labels: {app: web}},
          spec: {containers: [{name: web, image: web}]}}}
  webhookdefinitions:
  - {type: ValidatingAdmissionWebhook, generateName: vweb.example.com, deploymentName: web, containerPort: 443,
    targetPort: 9443, sideEffects: None, admissionReviewVersions: [v1], webhookPath: /validate,
    rules: [{apiGroups: [example.com], apiVersions: [v1], operations: [CREATE], resources: [webs]}]}
`

const (
	operatorSecret = "/api/v1/namespaces/web-system/secrets/web-service-cert"
	operatorPods   = "/apis/apps/v1/namespaces/web-system/deployments/web"
	operatorCalls  = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations"
)

// operating is a cluster in which the operator is to be installed under the name shop, from the directory shop.
type operating struct {
	*testing.T
	*kubetest.Server

	mu     sync.Mutex
	writes []string
}

func newOperating(t *testing.T) *operating {
	t.Helper()
	o := &operating{T: t}
	o.Server = kubetest.Start(t, func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Method != http.MethodGet {
				o.mu.Lock()
				o.writes = append(o.writes, r.URL.Path)
				o.mu.Unlock()
			}
			cluster(next).ServeHTTP(w, r)
		})
	})
	o.Managed = true
	there(t, map[string]string{
		"metadata/annotations.yaml": "annotations:\n  operators.operatorframework.io.bundle.package.v1: web\n",
		"manifests/web.yaml":        webhookOperator,
	})
	cmdtest.Cluster(t, o.URL)
	return o
}

func (o *operating) install(args ...string) v1.BundleInstallation {
	o.Helper()
	out, _ := cmdtest.Must(o.T, 0, append([]string{"bundle", "install", "shop", "./shop", "--no-wait", "-o", "json"},
		args...)...)
	return decoded[v1.BundleInstallation](o.T, out)
}

// secret is what the Secret of the certificate has.
func (o *operating) secret(key string) string {
	o.Helper()
	secret := o.Get(operatorSecret)
	if secret == nil {
		o.Fatal("there is no Secret")
	}
	return secretData(o.T, secret, key)
}

func secretData(t *testing.T, secret *kubetest.Object, key string) string {
	t.Helper()
	text, _, _ := unstructured.NestedString(secret.Object, "data", key)
	data, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// trusted is what the API server trusts.
func (o *operating) trusted() string {
	o.Helper()
	names := o.Names("validatingwebhookconfigurations")
	if len(names) != 1 {
		o.Fatalf("webhooks %q", names)
	}
	hooks, _, _ := unstructured.NestedSlice(o.Get(names[0]).Object, "webhooks")
	text, _, _ := unstructured.NestedString(hooks[0].(map[string]any), "clientConfig", "caBundle")
	cas, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		o.Fatal(err)
	}
	return string(cas)
}

// answers says whether the API server can call a webhook that serves with a certificate.
func (o *operating) answers(cert string) error {
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM([]byte(o.trusted()))
	block, _ := pem.Decode([]byte(cert))
	leaf, err := x509.ParseCertificate(block.Bytes)
	if err == nil {
		_, err = leaf.Verify(x509.VerifyOptions{Roots: roots, DNSName: "web-service.web-system.svc"})
	}
	return err
}

// hash is what starts the pods again with another certificate.
func (o *operating) hash() string {
	hash, _, _ := unstructured.NestedString(o.Get(operatorPods).Object, "spec", "template", "metadata", "annotations",
		"olmcahash")
	return hash
}

// The certificate of an operator's webhook is made once, is in its Secret alone, and no later pass takes it for a
// change.
func TestOperatorWebhook(t *testing.T) {
	o := newOperating(t)
	first := o.install()
	cert, key := o.secret("tls.crt"), o.secret("tls.key")
	if err := o.answers(cert); err != nil || o.trusted() != o.secret("ca.crt") || o.hash() == "" {
		t.Errorf("%v, hash %q", err, o.hash())
	}
	again := o.install()
	if again.Action != v1.BundleUnchanged || again.Objects.Unchanged != first.Objects.Created ||
		again.Timing.Requests > 10+first.Objects.Created {
		t.Errorf("%+v", again)
	}
	cmdtest.Must(t, 0, "bundle", "diff", "shop", "./shop", "--exit-code")
	cmdtest.Must(t, 0, "bundle", "reconcile")
	if o.secret("tls.crt") != cert || o.secret("tls.key") != key {
		t.Error("the certificate is another one")
	}
	block, _ := pem.Decode([]byte(key))
	for _, at := range slices.Concat(o.Names("secrets"), o.Names("configmaps"), o.Names("bundleinstances")) {
		text, _ := o.Get(at).MarshalJSON()
		for _, secret := range []string{key, string(block.Bytes)} {
			if at != operatorSecret && (strings.Contains(string(text), secret) ||
				strings.Contains(string(text), base64.StdEncoding.EncodeToString([]byte(secret)))) {
				t.Errorf("the key is in %s", at)
			}
		}
	}
	out, _ := cmdtest.Must(t, 0, "bundle", "template", "./shop")
	if strings.Contains(out, "PRIVATE KEY") || !strings.Contains(out, `tls.key: ""`) {
		t.Error(out)
	}
	// Another version of the operator has the same certificate.
	text := strings.Replace(webhookOperator, "image: web", "image: web:v2", 1)
	if err := os.WriteFile(filepath.Join("shop", "manifests", "web.yaml"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if i := o.install(); i.Action != v1.BundleUpgraded || o.secret("tls.crt") != cert {
		t.Errorf("%+v", i)
	}
	cmdtest.Must(t, 0, "bundle", "rollback", "shop", "--no-wait")
	if o.secret("tls.crt") != cert {
		t.Error("a rollback has another certificate")
	}
	cmdtest.Must(t, 0, "bundle", "uninstall", "shop", "--yes")
	if o.Get(operatorSecret) != nil {
		t.Error("the Secret is left")
	}
}

// A pass renews a certificate of which less than a third is left, or whose Secret somebody has deleted: first the API
// server trusts both, and only then is the other one there and the pods are started again.
func TestOperatorCertificateRenewed(t *testing.T) {
	for name, do := range map[string]struct {
		before func(o *operating)
		pass   []string
	}{
		"its time has come, for a server": {before: (*operating).age, pass: []string{"bundle", "reconcile"}},
		"its time has come, for an upgrade that changes nothing": {
			before: (*operating).age, pass: []string{"bundle", "install", "shop", "./shop", "--no-wait"},
		},
		"somebody has changed it": {
			before: func(o *operating) { o.ask(http.MethodPatch, operatorSecret, `{"data": {"tls.key": "bm8="}}`) },
			pass:   []string{"bundle", "reconcile"},
		},
		"its Secret is deleted": {
			before: func(o *operating) { o.ask(http.MethodDelete, operatorSecret, "") },
			pass:   []string{"bundle", "reconcile"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			o := newOperating(t)
			o.install()
			old := o.secret("tls.crt")
			do.before(o)
			if secret := o.Get(operatorSecret); secret != nil {
				old = o.secret("tls.crt")
			}
			hash := o.hash()
			o.writes = nil
			cmdtest.Must(t, 0, do.pass...)
			renewed := o.secret("tls.crt")
			if renewed == old || o.hash() == hash {
				t.Error("the certificate is the same")
			}
			for which, cert := range map[string]string{"old": old, "new": renewed} {
				if err := o.answers(cert); err != nil {
					t.Errorf("the %s certificate: %v", which, err)
				}
			}
			at := func(path string) int {
				return slices.IndexFunc(o.writes, func(w string) bool { return strings.HasPrefix(w, path) })
			}
			secret := at(strings.TrimSuffix(operatorSecret, "/web-service-cert"))
			if calls := at(operatorCalls); calls < 0 || secret < calls || at(operatorPods) < secret {
				t.Errorf("written in this order: %q", o.writes)
			}
			cmdtest.Must(t, 0, "bundle", "reconcile")
			if o.secret("tls.crt") != renewed {
				t.Error("it is renewed again")
			}
		})
	}
}

// ask sends a request that another program might send.
func (o *operating) ask(method, path, patch string) {
	o.Helper()
	r, err := http.NewRequestWithContext(o.Context(), method, o.URL+path+"?fieldManager=other",
		strings.NewReader(patch))
	if err != nil {
		o.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/merge-patch+json")
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		o.Fatal(err)
	}
	if response.StatusCode != http.StatusOK {
		o.Fatal(response.Status)
	}
	_ = response.Body.Close()
}

// age puts a certificate in place that was made long ago, as if it was made at the installation.
func (o *operating) age() {
	pair, err := keypair.New([]string{
		"web-service.web-system.svc", "web-service.web-system.svc.cluster.local", "web-service.web-system",
		"web-service",
	}, time.Now().Add(-keypair.Lifetime*3/4))
	if err != nil {
		o.Fatal(err)
	}
	secret := o.Get(operatorSecret).DeepCopy()
	for key, data := range map[string][]byte{"tls.crt": pair.Cert, "tls.key": pair.Key, "ca.crt": pair.CA} {
		_ = unstructured.SetNestedField(secret.Object, base64.StdEncoding.EncodeToString(data), "data", key)
	}
	o.Put(operatorSecret, secret)
}

// The status of an operator says what it watches, and until when its certificates are good; a Secret that is lost has
// none.
func TestOperatorStatus(t *testing.T) {
	home, _ := os.Getwd()
	o := newOperating(t)
	state := func() (v1.BundleState, string) {
		text, _ := cmdtest.Must(t, 0, "bundle", "status", "shop")
		document, _ := cmdtest.Must(t, 0, "bundle", "status", "shop", "-o", "json")
		return decoded[v1.BundleState](t, document), text
	}
	o.install()
	s, text := state()
	if s.Watches == nil || !s.Watches.All || !strings.Contains(text, "all namespaces") {
		t.Errorf("%+v\n%s", s.Watches, text)
	}
	o.install("--watch-namespaces", "a,b")
	s, text = state()
	if s.Watches == nil || s.Watches.All || !slices.Equal(s.Watches.Namespaces, []string{"a", "b"}) ||
		!strings.Contains(text, "a, b") {
		t.Errorf("%+v\n%s", s.Watches, text)
	}
	if len(s.Certificates) != 1 {
		t.Fatalf("%+v", s.Certificates)
	}
	block, _ := pem.Decode([]byte(o.secret("tls.crt")))
	leaf, err := x509.ParseCertificate(block.Bytes)
	if err != nil {
		t.Fatal(err)
	}
	c := s.Certificates[0]
	if c.Secret != "web-service-cert" || c.Namespace != "web-system" || !c.EndsAt.Equal(leaf.NotAfter) ||
		!c.RenewedFrom.Before(c.EndsAt) || !c.RenewedFrom.After(time.Now()) || c.Message != "" {
		t.Errorf("%+v", c)
	}
	if !strings.Contains(text, "is renewed from "+c.RenewedFrom.Format(time.DateOnly)) ||
		!strings.Contains(text, c.EndsAt.Format(time.DateOnly)) {
		t.Error(text)
	}
	secret := o.Get(operatorSecret).DeepCopy()
	secret.Object["data"] = map[string]any{"tls.crt": "bm9uc2Vuc2U="}
	o.Put(operatorSecret, secret)
	s, text = state()
	if len(s.Certificates) != 1 || !s.Certificates[0].EndsAt.IsZero() || !strings.Contains(text, "can be read") {
		t.Errorf("%+v\n%s", s.Certificates, text)
	}
	document, _ := cmdtest.Must(t, 0, "bundle", "status", "shop", "-o", "json")
	t.Chdir(home)
	schematest.Validate(t, []byte(document))
}

// What an operator watches is kept by upgrades until something else is said, and goes back with a rollback.
func TestOperatorWatches(t *testing.T) {
	o := newOperating(t)
	watches := func() string {
		targets, _, _ := unstructured.NestedString(o.Get(operatorPods).Object, "spec", "template", "metadata",
			"annotations", "olm.targetNamespaces")
		return targets
	}
	for _, step := range []struct {
		args []string
		want string
	}{
		{nil, ""},
		{[]string{"--watch-namespaces", "b,a"}, "a,b"},
		{nil, "a,b"},
		{[]string{"--watch-namespaces", "c", "--watch-namespaces", "d"}, "c,d"},
		{[]string{"--watch-namespaces", ""}, ""},
	} {
		o.install(step.args...)
		if got := watches(); got != step.want {
			t.Errorf("after %q it watches %q, want %q", step.args, got, step.want)
		}
		cmdtest.Must(t, 0, "bundle", "reconcile")
		if got := watches(); got != step.want {
			t.Errorf("after %q and a pass it watches %q, want %q", step.args, got, step.want)
		}
	}
	cmdtest.Must(t, 0, "bundle", "rollback", "shop", "--no-wait")
	if got := watches(); got != "c,d" {
		t.Errorf("after a rollback it watches %q", got)
	}
	_, stderr := cmdtest.Must(t, 2, "bundle", "install", "shop", "./shop", "--watch-namespaces", "a")
	if !strings.Contains(stderr, "SingleNamespace is not supported") {
		t.Error(stderr)
	}
	for name, text := range map[string]string{
		"web.yaml": "", "plain.yaml": "{apiVersion: v1, kind: ConfigMap, metadata: {name: a}}",
	} {
		if err := os.WriteFile(filepath.Join("shop", "manifests", name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.RemoveAll("shop/metadata"); err != nil {
		t.Fatal(err)
	}
	_, stderr = cmdtest.Must(t, 2, "bundle", "template", "./shop", "--watch-namespaces", "a")
	if !strings.Contains(stderr, "a bundle of format plain+v0 takes no namespaces to watch") {
		t.Error(stderr)
	}
}
