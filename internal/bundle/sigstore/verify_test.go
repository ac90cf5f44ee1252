package sigstore_test

import (
	"bytes"
	"crypto/rsa"
	"math/big"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	bundlepb "github.com/sigstore/protobuf-specs/gen/pb-go/bundle/v1"
	commonpb "github.com/sigstore/protobuf-specs/gen/pb-go/common/v1"
	rekorpb "github.com/sigstore/protobuf-specs/gen/pb-go/rekor/v1"
	"github.com/sigstore/sigstore-go/pkg/root"

	"github.com/berthdev/berth/internal/bundle/sigstore"
	"github.com/berthdev/berth/internal/bundle/sigstore/sigstoretest"
)

func trusted(t testing.TB, text []byte) root.TrustedMaterial {
	t.Helper()
	r, err := sigstore.ReadRoot(text, "the trusted root")
	if err != nil {
		t.Fatal(err)
	}
	material, err := r.Trusted(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return material
}

var alice = sigstore.Signer{Subject: sigstoretest.Subject, Issuer: sigstoretest.Issuer}

// What is needed of a signature with a certificate, at cosign's tag and in a bundle: all of it holds for both.
func TestVerify(t *testing.T) {
	s, other := sigstoretest.New(t), sigstoretest.New(t)
	material := trusted(t, s.Root())
	for name, test := range map[string]struct {
		signing sigstoretest.Signing
		by      *sigstoretest.Sigstore
		says    string
		only    string // the form that it is about
	}{
		"promised and proven":       {},
		"promised":                  {signing: sigstoretest.Signing{NoProof: true}},
		"proven and stamped":        {signing: sigstoretest.Signing{NoPromise: true, Stamped: true}, only: "bundle"},
		"everything":                {signing: sigstoretest.Signing{Stamped: true}},
		"at the end of its time":    {signing: sigstoretest.Signing{After: 10 * time.Minute}},
		"Rekor 2 and stamped":       {signing: sigstoretest.Signing{Rekor2: true, Stamped: true}, only: "bundle"},
		"Rekor 2 without timestamp": {signing: sigstoretest.Signing{Rekor2: true}, only: "bundle", says: "no time"},
		"of a repository": {signing: sigstoretest.Signing{
			Subject: "https://example.com/org/app/.github/workflows/release.yaml@refs/tags/v1",
		}},
		"of a user":             {signing: sigstoretest.Signing{Subject: "alice!example.com", Stamped: true}},
		"proven without a time": {signing: sigstoretest.Signing{NoPromise: true}, only: "bundle", says: "no time"},
		"neither promised nor proven": {
			signing: sigstoretest.Signing{NoPromise: true, NoProof: true}, says: "neither a promise nor a proof",
		},
		"in no log":             {signing: sigstoretest.Signing{NoEntry: true, Stamped: true}, says: "in no log that"},
		"the certificate alone": {signing: sigstoretest.Signing{NoEntry: true}, says: "in no log that"},
		"no SCT":                {signing: sigstoretest.Signing{NoSCT: true}, says: "in no log of certificates"},
		"after its certificate": {
			signing: sigstoretest.Signing{After: 11 * time.Minute}, says: "its certificate is valid from",
		},
		"before its certificate": {
			signing: sigstoretest.Signing{After: -time.Second}, says: "its certificate is valid from",
		},
		"before the log": {
			signing: sigstoretest.Signing{After: -2 * time.Hour}, says: "when the key of its log was not valid",
		},
		"logged with another signature": {
			signing: sigstoretest.Signing{OtherSignature: true}, says: "of another signature",
		},
		"logged with another certificate": {
			signing: sigstoretest.Signing{OtherCertificate: true}, says: "of another certificate",
		},
		"in Rekor 2 with another certificate": {
			signing: sigstoretest.Signing{OtherCertificate: true, Rekor2: true}, says: "of another certificate",
		},
		"of another sigstore": {by: other, says: "in no log that is trusted"},
	} {
		by := test.by
		if by == nil {
			by = s
		}
		want := alice
		if test.signing.Subject != "" {
			want.Subject = test.signing.Subject
		}
		check := func(t *testing.T, signed *sigstore.Signed, err error) {
			t.Helper()
			if err != nil {
				t.Fatal(err)
			}
			who, err := sigstore.Verify(signed, material)
			expect(t, who, err, want, test.says)
		}
		if test.only != "bundle" {
			t.Run(name+"/tag", func(t *testing.T) {
				text := []byte("what is signed")
				signed, err := sigstore.FromAnnotations(text, by.Annotations(text, test.signing))
				check(t, signed, err)
			})
		}
		t.Run(name+"/bundle", func(t *testing.T) {
			signed, err := sigstore.FromBundle(by.Marshal(by.Bundle([]byte(`{"a":"statement"}`), test.signing)))
			check(t, signed, err)
		})
	}
}

func expect(t *testing.T, who sigstore.Signer, err error, want sigstore.Signer, says string) {
	t.Helper()
	switch {
	case err != nil && who != sigstore.Signer{}:
		t.Errorf("%s in spite of %v", who, err)
	case says == "" && (err != nil || who != want):
		t.Errorf("%s: %v, wanted %s", who, err, want)
	case says != "" && (err == nil || !strings.Contains(err.Error(), says)):
		t.Errorf("%v, wanted %q", err, says)
	}
}

// tampered is what somebody makes of a bundle that is right, with others that are.
type tampered struct {
	do   func(b, another, foreign *bundlepb.Bundle)
	says string
}

func entry(b *bundlepb.Bundle) *rekorpb.TransparencyLogEntry {
	return b.VerificationMaterial.TlogEntries[0]
}

// Nothing of another signature, log or authority can be put in the place of what belongs to a signature.
func TestTampered(t *testing.T) {
	s, other := sigstoretest.New(t), sigstoretest.New(t)
	huge := s.WithKey(&rsa.PublicKey{N: new(big.Int).SetBit(big.NewInt(1), 8192, 1), E: 65537})
	material := trusted(t, s.Root())
	for name, test := range map[string]tampered{
		"nothing": {do: func(_, _, _ *bundlepb.Bundle) {}},
		"another payload": {do: func(b, _, _ *bundlepb.Bundle) {
			b.GetDsseEnvelope().Payload = []byte("another")
		}, says: "not of the key of its certificate"},
		"another signature": {do: func(b, another, _ *bundlepb.Bundle) {
			b.GetDsseEnvelope().Signatures = another.GetDsseEnvelope().Signatures
		}, says: "not of the key of its certificate"},
		"another certificate": {do: func(b, another, _ *bundlepb.Bundle) {
			b.VerificationMaterial.Content = another.VerificationMaterial.Content
		}, says: "not of the key of its certificate"},
		"the entry of another signature": {do: func(b, another, _ *bundlepb.Bundle) {
			b.VerificationMaterial.TlogEntries = another.VerificationMaterial.TlogEntries
		}, says: "of something else"},
		"a certificate of another authority": {do: func(b, _, foreign *bundlepb.Bundle) {
			b.VerificationMaterial.Content, b.Content = foreign.VerificationMaterial.Content, foreign.Content
			entry(b).CanonicalizedBody = entry(foreign).CanonicalizedBody
		}, says: "not signed by the log"},
		"another time": {do: func(b, _, _ *bundlepb.Bundle) {
			entry(b).IntegratedTime++
		}, says: "not signed by the log"},
		"another index of the promise": {do: func(b, _, _ *bundlepb.Bundle) {
			entry(b).LogIndex++
		}, says: "not signed by the log"},
		"the promise of another entry": {do: func(b, another, _ *bundlepb.Bundle) {
			entry(b).InclusionPromise = entry(another).InclusionPromise
		}, says: "not signed by the log"},
		"the proof of another entry": {do: func(b, another, _ *bundlepb.Bundle) {
			entry(b).InclusionProof = entry(another).InclusionProof
		}, says: "the proof leads elsewhere"},
		"the head of another tree": {do: func(b, another, _ *bundlepb.Bundle) {
			entry(b).InclusionProof.Checkpoint = entry(another).InclusionProof.Checkpoint
		}, says: "the proof of its entry of the log is not valid"},
		"the head of another tree, as it is": {do: func(b, another, _ *bundlepb.Bundle) {
			of := entry(another).InclusionProof
			of.Hashes = entry(b).InclusionProof.Hashes
			entry(b).InclusionProof = of
		}, says: "the proof leads elsewhere"},
		"another size": {do: func(b, _, _ *bundlepb.Bundle) {
			entry(b).InclusionProof.TreeSize++
		}, says: "the proof of its entry of the log is not valid"},
		"the head of another log": {do: func(b, _, foreign *bundlepb.Bundle) {
			entry(b).InclusionProof.Checkpoint = entry(foreign).InclusionProof.Checkpoint
		}, says: "the head of the log is not signed"},
		"a head that was changed": {do: func(b, _, _ *bundlepb.Bundle) {
			c := entry(b).InclusionProof.Checkpoint
			c.Envelope = strings.Replace(c.Envelope, "\n3\n", "\n4\n", 1)
		}, says: "the head of the log is not signed"},
		"a proof without a head": {do: func(b, _, _ *bundlepb.Bundle) {
			entry(b).InclusionProof.Checkpoint = nil
		}, says: "the head of the log is not signed"},
		"another hash of a proof": {do: func(b, _, _ *bundlepb.Bundle) {
			entry(b).InclusionProof.Hashes[0] = bytes.Repeat([]byte{1}, 32)
		}, says: "the proof leads elsewhere"},
		"another place in the tree": {do: func(b, _, _ *bundlepb.Bundle) {
			entry(b).InclusionProof.LogIndex = -1
		}, says: "the proof of its entry of the log is not valid"},
		"an endless proof": {do: func(b, _, _ *bundlepb.Bundle) {
			p := entry(b).InclusionProof
			p.Hashes = append(p.Hashes, make([][]byte, 1000)...)
		}, says: "the proof leads elsewhere"},
		"another kind of entry": {do: func(b, _, _ *bundlepb.Bundle) {
			entry(b).KindVersion.Kind = "rekord"
		}, says: "of another kind"},
		"an envelope in Rekor 2": {do: func(b, _, _ *bundlepb.Bundle) {
			entry(b).KindVersion = nil
			entry(b).CanonicalizedBody = []byte(`{"kind":"dsse","apiVersion":"0.0.2","spec":{"dsseV002":{
				"payloadHash":{"algorithm":"SHA2_256"},"signatures":[{}]}}}`)
		}, says: "of a kind that is not known"},
		"an invalid entry": {do: func(b, _, _ *bundlepb.Bundle) {
			entry(b).CanonicalizedBody = []byte("[]")
		}, says: "is not valid"},
		"an entry of a log that is not trusted": {do: func(b, _, _ *bundlepb.Bundle) {
			entry(b).LogId = &commonpb.LogId{KeyId: []byte("x")}
		}, says: "in no log that is trusted"},
		"beside an entry of a log that is not trusted": {do: func(b, _, foreign *bundlepb.Bundle) {
			m := b.VerificationMaterial
			m.TlogEntries = append(foreign.VerificationMaterial.TlogEntries, m.TlogEntries...)
		}},
		"too many entries": {do: func(b, _, _ *bundlepb.Bundle) {
			for range 6 {
				b.VerificationMaterial.TlogEntries = append(b.VerificationMaterial.TlogEntries,
					b.VerificationMaterial.TlogEntries...)
			}
		}, says: "more than 16 entries"},
		"a huge chain": {do: func(b, _, _ *bundlepb.Bundle) {
			own := b.VerificationMaterial.GetCertificate()
			chain := &commonpb.X509CertificateChain{Certificates: []*commonpb.X509Certificate{own}}
			for range 1000 {
				chain.Certificates = append(chain.Certificates, own)
			}
			b.VerificationMaterial.Content = &bundlepb.VerificationMaterial_X509CertificateChain{
				X509CertificateChain: chain,
			}
		}}, // of which nothing but the first is read
		"a huge certificate": {do: func(b, _, _ *bundlepb.Bundle) {
			b.VerificationMaterial.GetCertificate().RawBytes = make([]byte, 1<<20)
		}, says: "more than 64 KiB"},
		"a huge key": {do: func(b, _, _ *bundlepb.Bundle) {
			b.VerificationMaterial.GetCertificate().RawBytes = huge
		}, says: "a key of more than 8192 bits"},
	} {
		t.Run(name, func(t *testing.T) { test.run(t, s, other, material) })
	}
}

func (test tampered) run(t *testing.T, s, other *sigstoretest.Sigstore, material root.TrustedMaterial) {
	t.Helper()
	b := s.Bundle([]byte("statement"), sigstoretest.Signing{})
	test.do(b, s.Bundle([]byte("of another"), sigstoretest.Signing{}),
		other.Bundle([]byte("statement"), sigstoretest.Signing{}))
	signed, err := sigstore.FromBundle(s.Marshal(b))
	if err != nil {
		t.Fatal(err)
	}
	who, err := sigstore.Verify(signed, material)
	expect(t, who, err, alice, test.says)
}

// What was really signed with sigstore's public instance is verified with the root of it.
func TestPublicInstance(t *testing.T) {
	read := func(name string) []byte {
		text, err := os.ReadFile(filepath.Join("testdata", name))
		if err != nil {
			t.Fatal(err)
		}
		return text
	}
	material := trusted(t, read("public-good.json"))
	for name, want := range map[string]sigstore.Signer{
		"npm.sigstore.json": {
			Subject: "https://github.com/sigstore/sigstore-js/.github/workflows/release.yml@refs/heads/main",
			Issuer:  "https://token.actions.githubusercontent.com",
		},
		"oci-attestation.sigstore.json": {
			Subject: "cody@soyland.com", Issuer: "https://github.com/login/oauth",
		},
	} {
		t.Run(name, func(t *testing.T) {
			signed, err := sigstore.FromBundle(read(name))
			if err != nil {
				t.Fatal(err)
			}
			who, err := sigstore.Verify(signed, material)
			expect(t, who, err, want, "")
			who, err = sigstore.Verify(signed, trusted(t, sigstoretest.New(t).Root()))
			expect(t, who, err, want, "in no log that is trusted")
		})
	}
}
