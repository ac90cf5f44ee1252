// Package pki makes the certificate authority, certificates and keys of one
// cluster.
package pki

import (
	"crypto"
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
	"time"
)

// Client is a user of the API: its file name, and the name and group that the
// API server reads from its certificate.
type Client struct {
	File, User, Group string
}

// FrontProxy is what the API server calls itself before the API servers that it passes
// requests on to, and the file of that certificate. It has an authority of its own,
// FrontProxyCA: the holder of a certificate of that one is believed to say who the user is.
const (
	FrontProxy   = "front-proxy"
	FrontProxyCA = "front-proxy-ca"
)

// Server is what the API server's certificate answers for.
type Server struct {
	Names     []string
	Addresses []net.IP
}

// validity outlives any test cluster.
const validity = 10 * 365 * 24 * time.Hour

// Write makes everything below dir: ca, apiserver, sa (the service account
// key), the front proxy and its authority, and one certificate for each client. If all of it is there already it
// stays, so that kubeconfigs handed out before remain good.
func Write(dir string, server Server, clients []Client) error {
	done := filepath.Join(dir, "complete")
	if _, err := os.Stat(done); err == nil {
		return nil
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	authority, err := newAuthority(dir, "ca")
	if err != nil {
		return err
	}
	if err := authority.issue("apiserver", &x509.Certificate{
		Subject:     pkix.Name{CommonName: "kube-apiserver"},
		DNSNames:    server.Names,
		IPAddresses: server.Addresses,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}); err != nil {
		return err
	}
	for _, c := range clients {
		if err := authority.issue(c.File,
			client(pkix.Name{CommonName: c.User, Organization: []string{c.Group}})); err != nil {
			return err
		}
	}
	front, err := newAuthority(dir, FrontProxyCA)
	if err != nil {
		return err
	}
	if err := front.issue(FrontProxy, client(pkix.Name{CommonName: FrontProxy})); err != nil {
		return err
	}
	if _, err := newKey(filepath.Join(dir, "sa.key")); err != nil {
		return err
	}
	return os.WriteFile(done, nil, 0o600)
}

func client(subject pkix.Name) *x509.Certificate {
	return &x509.Certificate{Subject: subject, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}}
}

type authority struct {
	dir  string
	cert *x509.Certificate
	key  crypto.Signer
}

func newAuthority(dir, file string) (*authority, error) {
	key, err := newKey(filepath.Join(dir, file+".key"))
	if err != nil {
		return nil, err
	}
	cert := &x509.Certificate{
		Subject:               pkix.Name{CommonName: "berth test cluster " + file},
		IsCA:                  true,
		BasicConstraintsValid: true,
		KeyUsage:              x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature,
	}
	a := &authority{dir: dir, cert: cert, key: key}
	if err := a.sign(file, cert, key); err != nil {
		return nil, err
	}
	return a, nil
}

func (a *authority) issue(file string, cert *x509.Certificate) error {
	key, err := newKey(filepath.Join(a.dir, file+".key"))
	if err != nil {
		return err
	}
	cert.KeyUsage = x509.KeyUsageDigitalSignature
	return a.sign(file, cert, key)
}

func (a *authority) sign(file string, cert *x509.Certificate, key crypto.Signer) error {
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 120))
	if err != nil {
		return err
	}
	cert.SerialNumber = serial
	cert.NotBefore = time.Now().Add(-time.Hour) // clocks that were set back a little
	cert.NotAfter = time.Now().Add(validity)
	der, err := x509.CreateCertificate(rand.Reader, cert, a.cert, key.Public(), a.key)
	if err != nil {
		return err
	}
	return writePEM(filepath.Join(a.dir, file+".crt"), "CERTIFICATE", der)
}

func newKey(path string) (crypto.Signer, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	der, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		return nil, err
	}
	return key, writePEM(path, "EC PRIVATE KEY", der)
}

func writePEM(path, kind string, der []byte) error {
	return os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), 0o600)
}
