package sigstore_test

import (
	"bytes"
	"testing"

	"github.com/berthdev/berth/internal/bundle/sigstore"
	"github.com/berthdev/berth/internal/bundle/sigstore/sigstoretest"
)

// Whatever is made of a bundle, only what the signer has signed counts as theirs.
func FuzzBundle(f *testing.F) {
	s := sigstoretest.New(f)
	material := trusted(f, s.Root())
	payload := []byte("statement")
	f.Add(s.Marshal(s.Bundle(payload, sigstoretest.Signing{Stamped: true})))
	f.Add(s.Marshal(s.Bundle(payload, sigstoretest.Signing{Rekor2: true, Stamped: true})))
	f.Add(s.Marshal(s.Bundle(payload, sigstoretest.Signing{NoSCT: true})))
	f.Fuzz(func(t *testing.T, text []byte) {
		signed, err := sigstore.FromBundle(text)
		if err != nil {
			return
		}
		if who, err := sigstore.Verify(signed, material); err == nil && !bytes.Equal(signed.Payload, payload) {
			t.Errorf("%s has not signed this:\n%s", who, text)
		}
	})
}

// The same of annotations.
func FuzzAnnotations(f *testing.F) {
	s := sigstoretest.New(f)
	material := trusted(f, s.Root())
	own := []byte("what is signed")
	a := s.Annotations(own, sigstoretest.Signing{Stamped: true})
	f.Add(own, a[sigstore.AnnotationSignature], a[sigstore.AnnotationCertificate], a[sigstore.AnnotationBundle],
		a[sigstore.AnnotationTimestamp])
	f.Fuzz(func(t *testing.T, text []byte, signature, certificate, bundle, stamp string) {
		signed, err := sigstore.FromAnnotations(text, map[string]string{
			sigstore.AnnotationSignature: signature, sigstore.AnnotationCertificate: certificate,
			sigstore.AnnotationBundle: bundle, sigstore.AnnotationTimestamp: stamp,
		})
		if err != nil {
			return
		}
		if who, err := sigstore.Verify(signed, material); err == nil && !bytes.Equal(text, own) {
			t.Errorf("%s has not signed this:\n%s", who, text)
		}
	})
}

// Trusted roots are read, or refused.
func FuzzRoot(f *testing.F) {
	f.Add(sigstoretest.New(f).Root())
	f.Fuzz(func(t *testing.T, text []byte) {
		if r, err := sigstore.ReadRoot(text, "x"); (r == nil) == (err == nil) {
			t.Errorf("%v %v", r, err)
		}
	})
}
