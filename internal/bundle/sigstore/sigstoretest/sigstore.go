// Package sigstoretest has a sigstore for tests: an authority that issues certificates to identities, logs of
// certificates and of signatures, and an authority of timestamps.
package sigstoretest

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/asn1"
	"encoding/hex"
	"math/big"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/sigstore/sigstore-go/pkg/root"
	"github.com/sigstore/sigstore/pkg/cryptoutils"
)

// Sigstore is one.
type Sigstore struct {
	t                       testing.TB
	ca, issuing, tsa, stamp *authority
	certificates, rekor     crypto.Signer // the keys of the logs
	serial                  int64
	// begun is when certificates are issued: they have expired since, as they have wherever something is verified.
	begun time.Time
}

// Signing is how something is signed.
type Signing struct {
	// Subject and Issuer are alice@example.com and https://accounts.example.com, unless said otherwise. A subject may
	// also be a URL or, as NAME!HOST, the name of a user.
	Subject, Issuer string
	// After is how long after its certificate was issued, which is valid for ten minutes.
	After time.Duration
	// Rekor2 makes an entry of Rekor 2, which has no promise.
	Rekor2                             bool
	NoSCT, NoEntry, NoPromise, NoProof bool
	// Stamped adds a timestamp.
	Stamped bool
	// OtherSignature and OtherCertificate are of an entry of the same text, but of another signature or certificate.
	OtherSignature, OtherCertificate bool
}

const (
	// Subject is that of a Signing that names none.
	Subject = "alice@example.com"
	// Issuer is that of a Signing that names none.
	Issuer = "https://accounts.example.com"

	host     = "rekor.example.com"
	validity = 10 * time.Minute
)

type authority struct {
	certificate *x509.Certificate
	key         *ecdsa.PrivateKey
}

// New makes a sigstore.
func New(t testing.TB) *Sigstore {
	t.Helper()
	s := &Sigstore{t: t, certificates: newKey(t), rekor: newKey(t)}
	s.begun = time.Now().Add(-24 * time.Hour).Truncate(time.Second)
	ca := func(name string, by *authority) *authority {
		return s.issue(&x509.Certificate{
			Subject: pkix.Name{CommonName: name}, IsCA: true, BasicConstraintsValid: true,
			KeyUsage: x509.KeyUsageCertSign, NotBefore: s.begun.Add(-time.Hour), NotAfter: s.begun.Add(72 * time.Hour),
		}, by)
	}
	s.ca = ca("root", nil)
	s.issuing = ca("intermediate", s.ca)
	s.tsa = ca("root of timestamps", nil)
	stamping, err := asn1.Marshal([]asn1.ObjectIdentifier{{1, 3, 6, 1, 5, 5, 7, 3, 8}})
	s.check(err)
	s.stamp = s.issue(&x509.Certificate{
		Subject: pkix.Name{CommonName: "timestamps"}, KeyUsage: x509.KeyUsageDigitalSignature,
		NotBefore: s.begun.Add(-time.Hour), NotAfter: s.begun.Add(72 * time.Hour),
		ExtraExtensions: []pkix.Extension{{Id: asn1.ObjectIdentifier{2, 5, 29, 37}, Critical: true, Value: stamping}},
	}, s.tsa)
	return s
}

// NewEd25519 makes one whose log of signatures has a key of Ed25519, as those of Rekor 2 have.
func NewEd25519(t testing.TB) *Sigstore {
	t.Helper()
	s := New(t)
	_, key, err := ed25519.GenerateKey(rand.Reader)
	s.check(err)
	s.rekor = key
	return s
}

// Root is its trusted_root.json.
func (s *Sigstore) Root() []byte { return s.root(time.Time{}) }

// RootUntil is its trusted_root.json where the key of the log of signatures has ended: as long after certificates were
// issued.
func (s *Sigstore) RootUntil(after time.Duration) []byte { return s.root(s.begun.Add(after)) }

func (s *Sigstore) root(end time.Time) []byte {
	s.t.Helper()
	log := func(key crypto.Signer, end time.Time) map[string]*root.TransparencyLog {
		id := logID(s.t, key)
		return map[string]*root.TransparencyLog{hex.EncodeToString(id): {
			BaseURL: "https://" + host, ID: id, ValidityPeriodStart: s.begun.Add(-time.Hour), ValidityPeriodEnd: end,
			HashFunc: hash, PublicKey: key.Public(), SignatureHashFunc: hash,
		}}
	}
	trusted, err := root.NewTrustedRoot(root.TrustedRootMediaType01, []root.CertificateAuthority{
		&root.FulcioCertificateAuthority{
			Root: s.ca.certificate, Intermediates: []*x509.Certificate{s.issuing.certificate},
			ValidityPeriodStart: s.begun.Add(-time.Hour),
		},
	}, log(s.certificates, time.Time{}), []root.TimestampingAuthority{&root.SigstoreTimestampingAuthority{
		Root: s.tsa.certificate, Leaf: s.stamp.certificate, ValidityPeriodStart: s.begun.Add(-time.Hour),
	}}, log(s.rekor, end))
	s.check(err)
	text, err := trusted.MarshalJSON()
	s.check(err)
	return text
}

// certificate issues one to an identity, and logs it.
func (s *Sigstore) certificate(o Signing) *authority {
	issuer, err := asn1.Marshal(o.Issuer)
	s.check(err)
	c := &x509.Certificate{
		NotBefore: s.begun, NotAfter: s.begun.Add(validity), KeyUsage: x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageCodeSigning},
		ExtraExtensions: []pkix.Extension{
			{Id: asn1.ObjectIdentifier{1, 3, 6, 1, 4, 1, 57264, 1, 1}, Value: []byte(o.Issuer)},
			{Id: asn1.ObjectIdentifier{1, 3, 6, 1, 4, 1, 57264, 1, 8}, Value: issuer},
		},
	}
	switch {
	case strings.Contains(o.Subject, "://"):
		at, err := url.Parse(o.Subject)
		s.check(err)
		c.URIs = []*url.URL{at}
	case strings.Contains(o.Subject, "!"):
		name, err := cryptoutils.MarshalOtherNameSAN(o.Subject, true)
		s.check(err)
		c.ExtraExtensions = append(c.ExtraExtensions, *name)
	default:
		c.EmailAddresses = []string{o.Subject}
	}
	unlogged := s.issue(c, s.issuing)
	if o.NoSCT {
		return unlogged
	}
	c.ExtraExtensions = append(c.ExtraExtensions, s.sct(unlogged.certificate.RawTBSCertificate))
	return s.sign(c, s.issuing, unlogged.key)
}

// WithKey is a certificate of alice with a key that is not hers.
func (s *Sigstore) WithKey(public crypto.PublicKey) []byte {
	s.t.Helper()
	der, err := x509.CreateCertificate(rand.Reader, &x509.Certificate{
		SerialNumber: big.NewInt(1), NotBefore: s.begun, NotAfter: s.begun.Add(validity),
		EmailAddresses: []string{Subject},
	}, s.issuing.certificate, public, s.issuing.key)
	s.check(err)
	return der
}

// issue makes a certificate with a key and a number of its own; nil is itself.
func (s *Sigstore) issue(c *x509.Certificate, by *authority) *authority {
	s.serial++
	c.SerialNumber = big.NewInt(s.serial)
	return s.sign(c, by, newKey(s.t))
}

func (s *Sigstore) sign(c *x509.Certificate, by *authority, key *ecdsa.PrivateKey) *authority {
	if by == nil {
		by = &authority{c, key}
	}
	der, err := x509.CreateCertificate(rand.Reader, c, by.certificate, key.Public(), by.key)
	s.check(err)
	read, err := x509.ParseCertificate(der)
	s.check(err)
	return &authority{read, key}
}

func (s *Sigstore) check(err error) {
	if err != nil {
		s.t.Helper()
		s.t.Fatal(err)
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

// logID is by what a log is known: the hash of its key or, of one of Ed25519, that of a note, which names the log.
func logID(t testing.TB, key crypto.Signer) []byte {
	t.Helper()
	of := append([]byte(host+"\n\x01"), publicOf(key)...)
	if len(publicOf(key)) == 0 {
		var err error
		if of, err = x509.MarshalPKIXPublicKey(key.Public()); err != nil {
			t.Fatal(err)
		}
	}
	sum := sha256.Sum256(of)
	return sum[:]
}

// publicOf is a key of Ed25519; nothing for any other.
func publicOf(key crypto.Signer) ed25519.PublicKey {
	public, _ := key.Public().(ed25519.PublicKey)
	return public
}
