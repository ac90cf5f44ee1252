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
	"testing"

	"k8s.io/client-go/rest"
)

func TestSelf(t *testing.T) {
	token := "e30." + base64.RawURLEncoding.EncodeToString([]byte(`{"sub":"system:serviceaccount:ci:deploy"}`)) + ".c2ln"
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
