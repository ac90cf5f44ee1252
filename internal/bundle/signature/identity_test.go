package signature_test

import (
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	ocispec "github.com/opencontainers/image-spec/specs-go/v1"

	"github.com/berthdev/berth/internal/bundle/signature"
	"github.com/berthdev/berth/internal/bundle/signature/signaturetest"
	"github.com/berthdev/berth/internal/bundle/sigstore"
	"github.com/berthdev/berth/internal/bundle/sigstore/sigstoretest"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/registry/pull"
)

var alice = sigstore.Identity{Subject: sigstoretest.Subject, Issuer: sigstoretest.Issuer}

// identities is a policy of identities of a sigstore.
func identities(t testing.TB, s *sigstoretest.Sigstore, count ...sigstore.Identity) *signature.Policy {
	t.Helper()
	p, err := signature.New(signature.Keys{Identities: count, TrustedRoot: string(s.Root())}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// keyless puts a signature with a certificate into the registry, at the tag or as a bundle: of a digest.
func keyless(r repository, s *sigstoretest.Sigstore, tag bool, of ocispec.Descriptor, digest, predicate string,
	o sigstoretest.Signing,
) {
	if !tag {
		text := `{"_type":"https://in-toto.io/Statement/v1","subject":[{"digest":{"sha256":"` +
			strings.TrimPrefix(digest, "sha256:") + `"}}],"predicateType":"` + predicate + `","predicate":{}}`
		signaturetest.Refer(r, of, s.Marshal(s.Bundle([]byte(text), o)))
		return
	}
	text := signaturetest.Payload(digest)
	layer := r.Blob(pull.TypePayload, text)
	layer.Annotations = s.Annotations(text, o)
	r.Manifest(signaturetest.TagOf(of), ocispec.Manifest{Layers: []ocispec.Descriptor{layer}})
}

// An image counts as signed if one of the identities has signed its very digest, in each form that cosign writes; a
// refusal says who else has.
func TestIdentities(t *testing.T) {
	s, other := sigstoretest.New(t), sigstoretest.New(t)
	bob := sigstoretest.Signing{Subject: "bob@example.com"}
	for name, test := range map[string]struct {
		by           *sigstoretest.Sigstore
		signing      sigstoretest.Signing
		count        []sigstore.Identity
		another      bool // another image is signed
		reason, says string
	}{
		"alice": {},
		"one of two": {
			signing: bob,
			count:   []sigstore.Identity{alice, {Subject: "bob@example.com", Issuer: sigstoretest.Issuer}},
		},
		"an expression": {
			count: []sigstore.Identity{{
				SubjectRegExp: `.*@example\.com`, IssuerRegExp: `https://accounts\.example\.com`,
			}},
		},
		"part of an expression": {
			count:  []sigstore.Identity{{SubjectRegExp: `alice`, Issuer: sigstoretest.Issuer}},
			reason: signature.ReasonUntrusted,
			says:   "signed by another: alice@example.com (https://accounts.example.com)",
		},
		"bob": {
			signing: bob, reason: signature.ReasonUntrusted,
			says: "signed by another: bob@example.com (https://accounts.example.com)",
		},
		"alice of another issuer": {
			signing: sigstoretest.Signing{Issuer: "https://evil.example.com"}, reason: signature.ReasonUntrusted,
			says: "signed by another: alice@example.com (https://evil.example.com)",
		},
		"alice of another sigstore": {
			by: other, reason: signature.ReasonUntrusted,
			says: "a certificate that says it is of alice@example.com (https://accounts.example.com): it is in no log",
		},
		"a name of two lines": {
			signing: sigstoretest.Signing{Issuer: "x\ny: z"}, reason: signature.ReasonUntrusted,
			says: "signed by another: alice@example.com (x y: z)",
		},
		"without an entry": {
			signing: sigstoretest.Signing{NoEntry: true, Stamped: true}, reason: signature.ReasonUntrusted,
			says: "it is in no log that is trusted",
		},
		"another image": {
			another: true, reason: signature.ReasonOfOther,
			says: "the signature of alice@example.com (https://accounts.example.com) is of sha256:",
		},
	} {
		for _, form := range []string{"tag", "bundle"} {
			t.Run(name+"/"+form, func(t *testing.T) {
				r := newRegistry(t)
				signed, another := image(r, "v1", "a"), image(r, "v2", "b")
				of, by, count := signed, test.by, test.count
				if test.another {
					of = another
				}
				if by == nil {
					by = s
				}
				if count == nil {
					count = []sigstore.Identity{alice}
				}
				keyless(r, by, form == "tag", signed, of.Digest.String(), signaturetest.PredicateSign, test.signing)
				who, err := identities(t, s, count...).Image(t.Context(), resolve(t, r, ":v1"))
				if fault.ReasonOf(err) != test.reason || err != nil && !strings.Contains(err.Error(), test.says) {
					t.Errorf("%s: %v, wanted %q", fault.ReasonOf(err), err, test.says)
				}
				const suffix = "@example.com (https://accounts.example.com)"
				if test.reason == "" && (err != nil || !strings.HasSuffix(who, suffix)) {
					t.Errorf("%q %v", who, err)
				}
			})
		}
	}
}

// Keys and identities stand beside each other, and each counts for what it has signed alone.
func TestKeysAndIdentities(t *testing.T) {
	s, key := sigstoretest.New(t), signaturetest.NewCosign(t)
	both, err := signature.New(signature.Keys{
		Public: []string{key.Public}, Identities: []sigstore.Identity{alice}, TrustedRoot: string(s.Root()),
	}, nil)
	if err != nil {
		t.Fatal(err)
	}
	r := newRegistry(t)
	of := map[string]ocispec.Descriptor{}
	for _, tag := range []string{"key", "certificate", "attestation"} {
		of[tag] = image(r, tag, tag)
	}
	key.SignImage(t, r, of["key"])
	keyless(r, s, true, of["certificate"], of["certificate"].Digest.String(), "", sigstoretest.Signing{})
	keyless(r, s, false, of["attestation"], of["attestation"].Digest.String(), "https://slsa.dev/provenance/v1",
		sigstoretest.Signing{})
	for name, test := range map[string]struct {
		policy       *signature.Policy
		image        string
		reason, says string
	}{
		"a key of both":         {both, "key", "", "key sha256:"},
		"a certificate of both": {both, "certificate", "", "alice@example.com (https://accounts.example.com)"},
		"a key, of identities": {
			identities(t, s, alice), "key", signature.ReasonUntrusted, "signed with another key",
		},
		"a certificate, of keys": {
			policy(t, key.Public), "certificate", signature.ReasonUntrusted,
			"a certificate that says it is of alice@example.com (https://accounts.example.com): keys count, and no",
		},
		"an attestation": {both, "attestation", signature.ReasonUnsigned, "no signature was found"},
	} {
		t.Run(name, func(t *testing.T) {
			by, err := test.policy.Image(t.Context(), resolve(t, r, ":"+test.image))
			said := by
			if err != nil {
				said = err.Error()
			}
			if fault.ReasonOf(err) != test.reason || !strings.Contains(said, test.says) {
				t.Errorf("%s: %s, wanted %q", fault.ReasonOf(err), said, test.says)
			}
		})
	}
}

// network is one on which there is no answer; it counts the requests.
type network int

func (n *network) RoundTrip(*http.Request) (*http.Response, error) {
	*n++
	return nil, errors.New("no route")
}

// The public root is fetched when a certificate is to be verified. Without it keys count as before.
func TestWithoutPublicRoot(t *testing.T) {
	s, key, none := sigstoretest.New(t), signaturetest.NewCosign(t), new(network)
	usual := http.DefaultClient
	http.DefaultClient = &http.Client{Transport: none}
	defer func() { http.DefaultClient = usual }()
	for name, test := range map[string]struct {
		certificate, key bool
		requests         bool
		reason, says     string
	}{
		"a key":      {key: true, says: "key sha256:"},
		"not signed": {reason: signature.ReasonUnsigned, says: "no signature was found"},
		"a certificate": {
			certificate: true, requests: true, reason: signature.ReasonUnknown,
			says: "is of alice@example.com (https://accounts.example.com): the trusted root of sigstore's public",
		},
		"a certificate, and a key": {certificate: true, key: true, requests: true, says: "key sha256:"},
	} {
		t.Run(name, func(t *testing.T) {
			p, err := signature.New(signature.Keys{
				Public: []string{key.Public}, Identities: []sigstore.Identity{alice},
			}, nil)
			if err != nil {
				t.Fatal(err)
			}
			*none = 0
			r := newRegistry(t)
			of := image(r, "v1", "a")
			if test.certificate {
				keyless(r, s, true, of, of.Digest.String(), "", sigstoretest.Signing{})
			}
			if test.key {
				signaturetest.Refer(r, of, key.Bundle(t, of.Digest.String(), signaturetest.PredicateSign))
			}
			said, err := p.Image(t.Context(), resolve(t, r, ":v1"))
			if err != nil {
				said = err.Error()
			}
			if fault.ReasonOf(err) != test.reason || !strings.Contains(said, test.says) || *none > 0 != test.requests {
				t.Errorf("%s: %s, %d requests", fault.ReasonOf(err), said, *none)
			}
			if test.reason == signature.ReasonUnknown && (fault.CodeOf(err) != fault.Unavailable ||
				!strings.Contains(fault.From(err).Hint, "--trusted-root")) {
				t.Errorf("%s: %s", fault.CodeOf(err), fault.From(err).Hint)
			}
		})
	}
}

// Where the text of the trusted root is, its file is not needed; another one, or other identities, are another policy.
func TestPolicyOfIdentities(t *testing.T) {
	s, file := sigstoretest.New(t), filepath.Join(t.TempDir(), "trusted_root.json")
	if err := os.WriteFile(file, s.Root(), 0o600); err != nil {
		t.Fatal(err)
	}
	own := signature.Keys{Identities: []sigstore.Identity{alice}, TrustedRoot: file}
	texts, err := own.Texts()
	if err != nil || texts.TrustedRoot != string(s.Root()) || len(texts.Identities) != 1 {
		t.Fatalf("%+v %v", texts, err)
	}
	sums := map[string]bool{}
	for name, keys := range map[string]signature.Keys{
		"own": own, "texts": texts, "public": {Identities: own.Identities},
		"bob":     {Identities: []sigstore.Identity{{Subject: "bob", Issuer: "i"}}, TrustedRoot: file},
		"another": {Identities: own.Identities, TrustedRoot: string(sigstoretest.New(t).Root())},
	} {
		p, err := signature.New(keys, nil)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		sums[p.Sum()] = true
	}
	if len(sums) != 4 {
		t.Errorf("%d different policies, wanted 4", len(sums))
	}
	for says, keys := range map[string]signature.Keys{
		"--certificate-oidc-issuer (bundles.identities[0].issuer)": {Identities: []sigstore.Identity{{Subject: "a"}}},
		"the trusted root cannot be read":                          {Identities: own.Identities, TrustedRoot: "none"},
		"more than 32 identities":                                  {Identities: make([]sigstore.Identity, 33)},
	} {
		if _, err := signature.New(keys, nil); fault.CodeOf(err) != fault.InvalidArgument ||
			!strings.Contains(err.Error(), says) {
			t.Errorf("%v, wanted %q", err, says)
		}
	}
}
