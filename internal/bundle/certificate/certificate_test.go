package certificate_test

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"maps"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/berthdev/berth/internal/bundle/certificate"
	"github.com/berthdev/berth/internal/keypair"
)

const host = "web-service.shop.svc"

// bundle are the objects of an operator that serves a webhook of each kind and an API.
func bundle() []*unstructured.Unstructured {
	service := func() map[string]any {
		return map[string]any{"service": map[string]any{"name": "web-service", "namespace": "shop"}}
	}
	kind := func(kind, name string, more map[string]any) *unstructured.Unstructured {
		object := map[string]any{"apiVersion": "v1", "kind": kind, "metadata": map[string]any{"name": name}}
		maps.Copy(object, more)
		return &unstructured.Unstructured{Object: certificate.From(object, "shop", "web-cert")}
	}
	return []*unstructured.Unstructured{
		{Object: certificate.Secret("shop", "web-cert", []string{host, "web-service.shop"})},
		kind("CustomResourceDefinition", "webs", map[string]any{"spec": map[string]any{"conversion": map[string]any{
			"webhook": map[string]any{"clientConfig": service()},
		}}}),
		kind("Deployment", "web", map[string]any{"spec": map[string]any{"template": map[string]any{}}}),
		kind("ValidatingWebhookConfiguration", "v", map[string]any{"webhooks": []any{
			map[string]any{"clientConfig": service()},
		}}),
		kind("MutatingWebhookConfiguration", "m", map[string]any{"webhooks": []any{
			map[string]any{"clientConfig": service()},
		}}),
		kind("APIService", "a", map[string]any{"spec": service()}),
		{Object: map[string]any{
			"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": "other"},
		}},
	}
}

// cluster is what a cluster has.
type cluster []*unstructured.Unstructured

func (c cluster) live(o *unstructured.Unstructured) *unstructured.Unstructured {
	i := slices.IndexFunc(c, func(other *unstructured.Unstructured) bool {
		return other.GetKind() == o.GetKind() && other.GetName() == o.GetName()
	})
	if i < 0 {
		return nil
	}
	return c[i]
}

// applied is what a cluster has once the objects are applied at a time, and what was made for that.
func (c cluster) applied(t *testing.T, now time.Time) (cluster, *certificate.Set) {
	t.Helper()
	set, err := certificate.Of(bundle(), c.live, now)
	if err != nil {
		t.Fatal(err)
	}
	filled := set.Fill(bundle())
	return filled, set
}

// data is what the Secret has.
func (c cluster) data(t *testing.T, key string) []byte {
	t.Helper()
	text, _, _ := unstructured.NestedString(c[0].Object, "data", key)
	data, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// hash is what starts the pods again with another certificate.
func (c cluster) hash() string {
	hash, _, _ := unstructured.NestedString(c[2].Object, "spec", "template", "metadata", "annotations", "olmcahash")
	return hash
}

// bundles are the CAs that the objects trust.
func (c cluster) bundles() (all []string) {
	for _, o := range c {
		for _, path := range [][]string{
			{"spec", "caBundle"}, {"spec", "conversion", "webhook", "clientConfig", "caBundle"},
		} {
			if text, ok, _ := unstructured.NestedString(o.Object, path...); ok {
				all = append(all, text)
			}
		}
		hooks, _, _ := unstructured.NestedSlice(o.Object, "webhooks")
		for _, hook := range hooks {
			text, _, _ := unstructured.NestedString(hook.(map[string]any), "clientConfig", "caBundle")
			all = append(all, text)
		}
	}
	return all
}

// trusts says whether who has the CAs of one cluster trusts the certificate of another, for a name at a time.
func trusts(t *testing.T, cas, cert []byte, name string, now time.Time) bool {
	t.Helper()
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(cas)
	block, _ := pem.Decode(cert)
	leaf, err := x509.ParseCertificate(block.Bytes)
	if err != nil {
		t.Fatal(err)
	}
	_, err = leaf.Verify(x509.VerifyOptions{Roots: roots, DNSName: name, CurrentTime: now})
	return err == nil
}

func TestMade(t *testing.T) {
	now := time.Now()
	first, set := cluster(nil).applied(t, now)
	if diff := cmp.Diff([]string{"shop/web-cert"}, set.Made()); diff != "" {
		t.Error(diff)
	}
	cas := base64.StdEncoding.EncodeToString(first.data(t, "ca.crt"))
	if diff := cmp.Diff([]string{cas, cas, cas, cas}, first.bundles()); diff != "" {
		t.Error(diff)
	}
	for name, want := range map[string]bool{host: true, "web-service.shop": true, "web-service.other.svc": false} {
		if trusts(t, first.data(t, "ca.crt"), first.data(t, "tls.crt"), name, now) != want {
			t.Errorf("%s: trusted is not %t", name, want)
		}
	}
	if _, err := tls.X509KeyPair(first.data(t, "tls.crt"), first.data(t, "tls.key")); err != nil {
		t.Error(err)
	}
	if strings.Contains(string(first.data(t, "ca.crt")), "PRIVATE") {
		t.Error("the key of the CA is kept")
	}
	// What was given has no key: it is what is recorded.
	if text, _, _ := unstructured.NestedString(bundle()[0].Object, "data", "tls.key"); text != "" {
		t.Errorf("the key is %s", text)
	}
	if first.hash() == "" {
		t.Error("the pods do not know their certificate")
	}
	if len(set.Trusting(bundle(), cluster(nil).live)) > 0 {
		t.Error("something is to trust the first certificate before it is there")
	}
}

// A certificate is kept as it is for as long as it is good, and only so long.
func TestKept(t *testing.T) {
	now := time.Now()
	first, _ := cluster(nil).applied(t, now)
	third := keypair.Lifetime / 3
	for name, test := range map[string]struct {
		at     time.Duration
		change func(secret map[string]any)
		kept   bool
	}{
		"at once":           {kept: true},
		"two thirds of it":  {at: 2*third - time.Hour, kept: true},
		"a third is left":   {at: 2*third + time.Hour},
		"long expired":      {at: 2 * keypair.Lifetime},
		"a clock behind it": {at: -2 * time.Hour},
		"without a key":     {change: func(data map[string]any) { data["tls.key"] = "" }},
		"not readable":      {change: func(data map[string]any) { data["tls.crt"] = "?" }},
		"not of its CA": {change: func(data map[string]any) {
			other, _ := cluster(nil).applied(t, now)
			data["ca.crt"] = base64.StdEncoding.EncodeToString(other.data(t, "ca.crt"))
		}},
		"the key of another": {change: func(data map[string]any) {
			other, _ := cluster(nil).applied(t, now)
			data["tls.key"] = base64.StdEncoding.EncodeToString(other.data(t, "tls.key"))
		}},
	} {
		t.Run(name, func(t *testing.T) {
			there := slices.Clone(first)
			there[0] = there[0].DeepCopy()
			if data := there[0].Object["data"].(map[string]any); test.change != nil {
				test.change(data)
			}
			second, set := there.applied(t, now.Add(test.at))
			if kept := len(set.Made()) == 0; kept != test.kept {
				t.Fatalf("kept: %t", kept)
			}
			if diff := cmp.Diff(first, second); (diff == "") != test.kept {
				t.Error(diff)
			}
		})
	}
	there := slices.Clone(first)
	there[0] = there[0].DeepCopy()
	annotations := there[0].GetAnnotations()
	annotations["berth.dev/certificate-hosts"] = "other.shop.svc"
	set, err := certificate.Of([]*unstructured.Unstructured{
		{Object: certificate.Secret("shop", "web-cert", []string{"other.shop.svc"})},
	}, there.live, now)
	if err != nil || len(set.Made()) != 1 {
		t.Errorf("a certificate for other names is kept: %v", err)
	}
}

// After each renewal, who trusts the new certificate trusts those before it that are still good, whatever is lost.
func TestRenewed(t *testing.T) {
	now := time.Now()
	due := now.Add(keypair.Lifetime*2/3 + time.Hour)
	for name, lose := range map[string]func(cluster) cluster{
		"its time has come":  func(c cluster) cluster { return c },
		"its Secret is lost": func(c cluster) cluster { return c[1:] },
	} {
		t.Run(name, func(t *testing.T) {
			first, _ := cluster(nil).applied(t, now)
			there := lose(first)
			second, set := there.applied(t, due)
			if trusting := len(set.Trusting(bundle(), there.live)); trusting != 4 {
				t.Errorf("%d objects are to trust it before", trusting)
			}
			for which, c := range map[string]cluster{"old": first, "new": second} {
				cert := c.data(t, "tls.crt")
				if !trusts(t, second.data(t, "ca.crt"), cert, host, due) {
					t.Errorf("the %s certificate is not trusted", which)
				}
			}
			if trusts(t, first.data(t, "ca.crt"), second.data(t, "tls.crt"), host, due) {
				t.Error("the certificate is not another one")
			}
			hashes := map[string]bool{}
			for _, c := range []cluster{first, second} {
				hashes[c.hash()] = true
			}
			if len(hashes) != 2 {
				t.Error("the pods are not started again")
			}
			late, set := second.applied(t, due.Add(keypair.Lifetime*2/3+time.Hour))
			if len(set.Made()) != 1 || strings.Count(string(late.data(t, "ca.crt")), "BEGIN") != 2 {
				t.Errorf("made %v; trusts %s", set.Made(), late.data(t, "ca.crt"))
			}
		})
	}
	many, _ := cluster(nil).applied(t, now)
	for range 6 {
		many, _ = many[1:].applied(t, now)
	}
	if n := strings.Count(string(many.data(t, "ca.crt")), "BEGIN"); n != 4 {
		t.Errorf("%d CAs are trusted", n)
	}
}

// A server goes from one certificate to the next while it is called, by callers that learn of the new one before it and
// by those that learn of it long after: no call fails.
func TestNoCallFails(t *testing.T) {
	now := time.Now()
	first, _ := cluster(nil).applied(t, now)
	second, _ := first[1:].applied(t, now)
	serving, trusting := atomic.Pointer[cluster]{}, atomic.Pointer[cluster]{}
	serving.Store(&first)
	trusting.Store(&first)
	listener, err := tls.Listen("tcp", "127.0.0.1:0", &tls.Config{
		GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) {
			pair, err := tls.X509KeyPair(serving.Load().data(t, "tls.crt"), serving.Load().data(t, "tls.key"))
			return &pair, err
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	server := &http.Server{
		ReadHeaderTimeout: time.Minute, Handler: http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}),
	}
	go func() { _ = server.Serve(listener) }()
	t.Cleanup(func() { _ = server.Close() })
	call := func() error {
		roots := x509.NewCertPool()
		roots.AppendCertsFromPEM(trusting.Load().data(t, "ca.crt"))
		client := &http.Client{Transport: &http.Transport{
			DisableKeepAlives: true, TLSClientConfig: &tls.Config{RootCAs: roots, ServerName: host},
		}}
		response, err := client.Get("https://" + net.JoinHostPort("127.0.0.1", port(listener)))
		if err == nil {
			_ = response.Body.Close()
		}
		return err
	}
	for step, do := range []func(){
		func() {},
		func() { trusting.Store(&second) }, // the caller is told before the certificate is there
		func() { serving.Store(&second) },
		func() { serving.Store(&first) }, // a pod that has not noticed
	} {
		do()
		if err := call(); err != nil {
			t.Errorf("step %d: %v", step, err)
		}
	}
	trusting.Store(&first)
	serving.Store(&second)
	if call() == nil {
		t.Error("a caller that does not know the certificate trusts it")
	}
}

func port(l net.Listener) string {
	_, port, _ := net.SplitHostPort(l.Addr().String())
	return port
}
