package pki

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestWrite(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "pki")
	write := func() {
		t.Helper()
		if err := Write(dir, Server{Names: []string{"localhost"}},
			[]Client{{File: "admin", User: "me", Group: "us"}}); err != nil {
			t.Fatal(err)
		}
	}
	write()
	before, err := os.ReadFile(filepath.Join(dir, "ca.crt"))
	if err != nil {
		t.Fatal(err)
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(before)
	for file, usage := range map[string]x509.ExtKeyUsage{
		"apiserver": x509.ExtKeyUsageServerAuth,
		"admin":     x509.ExtKeyUsageClientAuth,
	} {
		pair, err := tls.LoadX509KeyPair(filepath.Join(dir, file+".crt"), filepath.Join(dir, file+".key"))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := pair.Leaf.Verify(x509.VerifyOptions{
			Roots:     roots,
			KeyUsages: []x509.ExtKeyUsage{usage},
		}); err != nil {
			t.Errorf("%s: %v", file, err)
		}
	}
	if front, err := os.ReadFile(filepath.Join(dir, FrontProxyCA+".crt")); err != nil || bytes.Equal(front, before) {
		t.Errorf("anyone who has a certificate of the cluster may say who the user is: %v", err)
	}
	write()
	if after, _ := os.ReadFile(filepath.Join(dir, "ca.crt")); !bytes.Equal(after, before) {
		t.Error("writing again makes another authority, so earlier kubeconfigs no longer work")
	}
	kubeconfig, err := Kubeconfig(dir, "admin", "test", "https://127.0.0.1:1")
	if err != nil || !strings.Contains(string(kubeconfig), "server: https://127.0.0.1:1\n") ||
		strings.Contains(string(kubeconfig), "%!") {
		t.Errorf("%v\n%s", err, kubeconfig)
	}
}
