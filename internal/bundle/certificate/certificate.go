package certificate

import (
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"encoding/hex"
	"encoding/pem"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/keypair"
)

// Live looks up an object in the cluster. It returns nil if the object does not exist.
type Live func(*unstructured.Unstructured) *unstructured.Unstructured

// Set are the certificates of a bundle's objects.
type Set struct {
	pairs map[reference]pair
}

// pair is a certificate with its key, and the CAs that clients trust: its own, and those of earlier certificates for as
// long as something may still serve with one of them.
type pair struct {
	cert, key, cas []byte
	// renewed says that it is in place of another one, and made that it has just been made.
	made, renewed bool
}

// Involved are the objects that have to do with certificates.
func Involved(objects []*unstructured.Unstructured) (some []*unstructured.Unstructured) {
	for _, object := range objects {
		if _, ok := from(object); ok || madeFor(object) != nil {
			some = append(some, object)
		}
	}
	return some
}

// Of are the certificates of objects: those that the cluster has for as long as they are good, and new ones for all
// others.
func Of(objects []*unstructured.Unstructured, live Live, now time.Time) (*Set, error) {
	s := &Set{pairs: map[reference]pair{}}
	for _, object := range objects {
		hosts, at := madeFor(object), referenceTo(object)
		if _, known := s.pairs[at]; hosts == nil || known {
			continue
		}
		p, good := read(live(object), hosts, now)
		if !good {
			made, err := keypair.New(hosts, now)
			if err != nil {
				return nil, fault.New(fault.Internal, "make a certificate for %s: %w", hosts[0], err)
			}
			before := p.cas
			if len(before) == 0 {
				before = trusted(objects, at, live)
			}
			before = current(before, now)
			p = pair{
				cert: made.Cert, key: made.Key, cas: slices.Concat(made.CA, before), made: true,
				renewed: len(before) > 0,
			}
		}
		s.pairs[at] = p
	}
	return s, nil
}

func referenceTo(object *unstructured.Unstructured) reference {
	return reference{object.GetNamespace(), object.GetName()}
}

// read reads a Secret. Good is false if its certificate is not for these names, or is to be renewed.
func read(secret *unstructured.Unstructured, hosts []string, now time.Time) (p pair, good bool) {
	if secret == nil {
		return p, false
	}
	data, _, _ := unstructured.NestedStringMap(secret.Object, "data")
	for key, to := range map[string]*[]byte{keyCertificate: &p.cert, keyKey: &p.key, keyCA: &p.cas} {
		*to, _ = base64.StdEncoding.DecodeString(data[key])
	}
	loaded, err := tls.X509KeyPair(p.cert, p.key)
	if err != nil {
		return p, false
	}
	leaf, err := x509.ParseCertificate(loaded.Certificate[0])
	if err != nil || isDue(leaf, now) {
		return p, false
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(p.cas)
	for _, host := range hosts {
		if _, err := leaf.Verify(x509.VerifyOptions{Roots: roots, DNSName: host, CurrentTime: now}); err != nil {
			return p, false
		}
	}
	return p, true
}

// isDue is true for a certificate of whose lifetime no more than a third is left.
func isDue(c *x509.Certificate, now time.Time) bool { return !now.Before(due(c)) }

func due(c *x509.Certificate) time.Time { return c.NotAfter.Add(-c.NotAfter.Sub(c.NotBefore) / 3) }

// trusted are the CAs of a certificate whose Secret is lost, as they are trusted in the cluster: something may still
// serve with it.
func trusted(objects []*unstructured.Unstructured, secret reference, live Live) (cas []byte) {
	for _, object := range objects {
		if at, ok := from(object); !ok || at != secret {
			continue
		}
		found := live(object)
		if found == nil {
			continue
		}
		for _, config := range bundlesOf(found) {
			text, _ := config["caBundle"].(string)
			some, _ := base64.StdEncoding.DecodeString(text)
			cas = append(cas, some...)
		}
	}
	return cas
}

// mostBefore is how many CAs are trusted beside the one of a new certificate.
const mostBefore = 3

// current are the first few CAs among some that have not expired, each once.
func current(cas []byte, now time.Time) (kept []byte) {
	seen := map[string]bool{}
	for rest := cas; len(seen) < mostBefore; {
		var block *pem.Block
		if block, rest = pem.Decode(rest); block == nil {
			break
		}
		ca, err := x509.ParseCertificate(block.Bytes)
		if err != nil || !ca.IsCA || now.After(ca.NotAfter) || seen[string(block.Bytes)] {
			continue
		}
		seen[string(block.Bytes)] = true
		kept = append(kept, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: block.Bytes})...)
	}
	return kept
}

// hashAnnotation is on the pods of a deployment that serves, as the Operator Lifecycle Manager has it: with another
// certificate they are started again, for there are programs that read theirs only once.
const hashAnnotation = "olmcahash"

// Fill are the objects, with their certificates filled in; objects without one are as they were given.
func (s *Set) Fill(objects []*unstructured.Unstructured) []*unstructured.Unstructured {
	filled := slices.Clone(objects)
	for i, object := range filled {
		if p, ok := s.pairs[referenceTo(object)]; ok && madeFor(object) != nil {
			filled[i] = object.DeepCopy()
			_ = unstructured.SetNestedStringMap(filled[i].Object, map[string]string{
				keyCertificate: base64.StdEncoding.EncodeToString(p.cert),
				keyKey:         base64.StdEncoding.EncodeToString(p.key),
				keyCA:          base64.StdEncoding.EncodeToString(p.cas),
			}, "data")
			continue
		}
		at, _ := from(object)
		p, ok := s.pairs[at]
		if !ok {
			continue
		}
		filled[i] = object.DeepCopy()
		for _, config := range bundlesOf(filled[i]) {
			config["caBundle"] = base64.StdEncoding.EncodeToString(p.cas)
		}
		if object.GetKind() == "Deployment" {
			sum := sha256.Sum256(p.cert)
			_ = unstructured.SetNestedField(filled[i].Object, hex.EncodeToString(sum[:]), "spec", "template",
				"metadata", "annotations", hashAnnotation)
		}
	}
	return filled
}

// Trusting are those of the objects, filled in and there already, that have to trust a new certificate before anything
// serves with it.
func (s *Set) Trusting(objects []*unstructured.Unstructured, live Live) (some []*unstructured.Unstructured) {
	for _, object := range objects {
		at, ok := from(object)
		if ok && s.pairs[at].renewed && len(bundlesOf(object)) > 0 && live(object) != nil {
			some = append(some, object)
		}
	}
	return some
}

// Renewed are those of the objects that are Secrets, filled in and there already, with another certificate.
func (s *Set) Renewed(objects []*unstructured.Unstructured, live Live) (some []*unstructured.Unstructured) {
	for _, object := range objects {
		if madeFor(object) != nil && s.pairs[referenceTo(object)].made && live(object) != nil {
			some = append(some, object)
		}
	}
	return some
}

// Made are the Secrets for which a certificate is new, in order, as NAMESPACE/NAME.
func (s *Set) Made() (names []string) {
	for at, p := range s.pairs {
		if p.made {
			names = append(names, at.namespace+"/"+at.name)
		}
	}
	slices.Sort(names)
	return names
}
