package kube

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/pem"
	"math/big"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"github.com/berthdev/berth/internal/fault"
)

func TestSelf(t *testing.T) {
	token := "e30." + base64.RawURLEncoding.EncodeToString([]byte(`{"sub":"system:serviceaccount:ci:deploy"}`)) +
		".c2ln"
	file := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(file, []byte(token+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		config *rest.Config
		want   string
	}{
		"no user":          {&rest.Config{}, ""},
		"no configuration": {nil, ""},
		"a certificate": {
			&rest.Config{TLSClientConfig: rest.TLSClientConfig{CertData: certificateOf(t, "alice")}},
			"alice",
		},
		"a spoilt certificate": {&rest.Config{TLSClientConfig: rest.TLSClientConfig{CertData: []byte("x")}}, ""},
		"a token":              {&rest.Config{BearerToken: token}, "system:serviceaccount:ci:deploy"},
		"a token in a file":    {&rest.Config{BearerTokenFile: file}, "system:serviceaccount:ci:deploy"},
		"an opaque token":      {&rest.Config{BearerToken: "abc"}, ""},
		"a spoilt token":       {&rest.Config{BearerToken: "a.!.c"}, ""},
		"impersonation is what": {
			&rest.Config{BearerToken: token, Impersonate: rest.ImpersonationConfig{UserName: "bob"}},
			"bob",
		},
	} {
		if got := Self(c.config); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

func certificateOf(t *testing.T, name string) []byte {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: name}}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
}

// kubeconfig is one with a user of these settings, beside what its current context does not take.
func kubeconfig(user string) string {
	return `
apiVersion: v1
kind: Config
clusters:
- {name: far, cluster: {server: "https://far.example.com", certificate-authority: pki/ca.crt}}
- {name: other, cluster: {server: "https://other.example.com", certificate-authority: none}}
users:
- {name: me, user: {` + user + `}}
- name: boss
  user:
    token: of-the-boss
    exec: {apiVersion: client.authentication.k8s.io/v1, command: boss, interactiveMode: Never}
contexts:
- {name: far, context: {cluster: far, user: me, namespace: team}}
- {name: other, context: {cluster: other, user: boss}}
- {name: lost, context: {cluster: lost, user: me}}
- {name: empty, context: {}}
current-context: far
`
}

func TestSelfContained(t *testing.T) {
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "pki"), 0o700); err != nil {
		t.Fatal(err)
	}
	for name, content := range map[string]string{
		"pki/ca.crt": "the CA", "me.crt": "the certificate",
		"me.key": "the key",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for name, c := range map[string]struct {
		text string
		want clientcmdapi.AuthInfo
	}{
		"a token": {kubeconfig("token: mine"), clientcmdapi.AuthInfo{Token: "mine"}},
		"files": {
			kubeconfig("client-certificate: me.crt, client-key: " + dir + "/me.key"),
			clientcmdapi.AuthInfo{ClientCertificateData: []byte("the certificate"), ClientKeyData: []byte("the key")},
		},
		"extensions": {
			kubeconfig("token: mine, extensions: [{name: login, extension: {refresh: other}}]"),
			clientcmdapi.AuthInfo{Token: "mine"},
		},
		"as another user": {
			kubeconfig("token: mine, as: boss"),
			clientcmdapi.AuthInfo{Token: "mine", Impersonate: "boss"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			text, err := SelfContained([]byte(c.text), filepath.Join(dir, "config"))
			if err != nil {
				t.Fatal(err)
			}
			got, err := clientcmd.Load(text)
			if err != nil {
				t.Fatal(err)
			}
			want := clientcmdapi.NewConfig()
			want.CurrentContext = "far"
			want.Contexts["far"] = &clientcmdapi.Context{Cluster: "far", AuthInfo: "me", Namespace: "team"}
			want.Clusters["far"] = &clientcmdapi.Cluster{
				Server:                   "https://far.example.com",
				CertificateAuthorityData: []byte("the CA"),
			}
			want.AuthInfos["me"] = &c.want
			if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestNotSelfContained(t *testing.T) {
	file := filepath.Join(t.TempDir(), "config")
	token := kubeconfig("token: mine")
	for name, c := range map[string]struct{ text, says string }{
		"a command": {kubeconfig("exec: {apiVersion: client.authentication.k8s.io/v1, command: login-tool, " +
			"interactiveMode: Never}"), "user me of kubeconfig " + file +
			" has its credential from the command login-tool (exec)"},
		"a token in a file": {kubeconfig("token: mine, tokenFile: token"), "from the file token (tokenFile)"},
		"an auth provider":  {kubeconfig("auth-provider: {name: oidc}"), "from the auth provider oidc"},
		"no such file":      {kubeconfig("client-certificate: me.crt"), "me.crt: " + syscall.ENOENT.Error()},
		"a key is missing": {strings.Replace(kubeconfig("client-certificate-data: bWU="),
			"certificate-authority: pki/ca.crt", "", 1), "client-key"},
		"no context": {strings.Replace(token, "current-context: far", "", 1), "current-context must exist"},
		"another context": {
			strings.Replace(token, "current-context: far", "current-context: x", 1),
			"cannot locate context x",
		},
		"no such cluster": {
			strings.Replace(token, "current-context: far", "current-context: lost", 1),
			"cannot locate cluster lost",
		},
		"an empty context": {strings.Replace(token, "current-context: far", "current-context: empty", 1), "no server"},
		"nothing":          {"", "current-context must exist"},
		"no YAML":          {"{", "it is no kubeconfig"},
		"a template":       {"{token: mine}: x", "it is no kubeconfig"},
		"no credential":    {kubeconfig(""), "user me of kubeconfig " + file + " has no credential"},
		"plain HTTP":       {strings.Replace(token, "https://far", "http://far", 1), "not https"},
		"not verified": {strings.Replace(token, "certificate-authority: pki/ca.crt", "insecure-skip-tls-verify: true",
			1), "does not verify its server"},
		"this host":    {strings.Replace(token, "far.example.com", "127.0.0.1:6443", 1), "which is this host only"},
		"a name of it": {strings.Replace(token, "far.example.com", "localhost:6443", 1), "which is this host only"},
		"a proxy": {strings.Replace(token, "certificate-authority: pki/ca.crt", `proxy-url: "http://u:mine@p:1"`,
			1), "has a proxy"},
	} {
		t.Run(name, func(t *testing.T) {
			text, err := SelfContained([]byte(c.text), file)
			if text != nil || fault.CodeOf(err) != fault.InvalidArgument || !strings.Contains(err.Error(), c.says) ||
				fault.From(err).Hint == "" {
				t.Errorf("%v, want %q", err, c.says)
			}
			if strings.Contains(err.Error(), "mine") {
				t.Errorf("the message has the token: %v", err)
			}
		})
	}
}
