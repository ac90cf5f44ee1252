// Package certtest makes certificates for tests: an authority, and what it signs.
package certtest

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// Authority signs certificates.
type Authority struct {
	t    testing.TB
	own  *x509.Certificate
	key  *ecdsa.PrivateKey
	File string // its own certificate in PEM
}

// Pair are the files of a certificate and its key, in PEM.
type Pair struct{ Cert, Key string }

// New makes an authority.
func New(t testing.TB) *Authority {
	t.Helper()
	a := &Authority{t: t, own: template(t, "authority", time.Now().Add(time.Hour))}
	a.own.IsCA, a.own.BasicConstraintsValid, a.own.KeyUsage = true, true, x509.KeyUsageCertSign
	a.key = newKey(t)
	a.File = write(t, "ca.pem", "CERTIFICATE", sign(t, a.own, a.own, a.key, a.key))
	return a
}

// Issue signs a certificate for some names and addresses, good for a server and
// a client, until a time. The first name is its subject.
func (a *Authority) Issue(until time.Time, names ...string) Pair {
	a.t.Helper()
	leaf := template(a.t, names[0], until)
	leaf.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth}
	for _, name := range names {
		if ip := net.ParseIP(name); ip != nil {
			leaf.IPAddresses = append(leaf.IPAddresses, ip)
		} else {
			leaf.DNSNames = append(leaf.DNSNames, name)
		}
	}
	key := newKey(a.t)
	secret, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		a.t.Fatal(err)
	}
	return Pair{
		Cert: write(a.t, "tls.crt", "CERTIFICATE", sign(a.t, leaf, a.own, key, a.key)),
		Key:  write(a.t, "tls.key", "PRIVATE KEY", secret),
	}
}

func template(t testing.TB, name string, until time.Time) *x509.Certificate {
	t.Helper()
	serial, err := rand.Int(rand.Reader, big.NewInt(1<<62))
	if err != nil {
		t.Fatal(err)
	}
	return &x509.Certificate{
		SerialNumber: serial, Subject: pkix.Name{CommonName: name},
		NotBefore: until.Add(-24 * time.Hour), NotAfter: until,
	}
}

func newKey(t testing.TB) *ecdsa.PrivateKey {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func sign(t testing.TB, what, by *x509.Certificate, key, with *ecdsa.PrivateKey) []byte {
	t.Helper()
	signed, err := x509.CreateCertificate(rand.Reader, what, by, &key.PublicKey, with)
	if err != nil {
		t.Fatal(err)
	}
	return signed
}

func write(t testing.TB, name, kind string, content []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: content}), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}
