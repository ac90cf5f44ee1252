// Package sigstore compares what berth takes for a signature with a certificate with what sigstore's own library does.
// It is a module of its own: that library brings along what berth does without.
package sigstore

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/berthdev/berth/internal/bundle/sigstore"
	"github.com/berthdev/berth/internal/bundle/sigstore/sigstoretest"
	"github.com/sigstore/sigstore-go/pkg/bundle"
	"github.com/sigstore/sigstore-go/pkg/root"
	"github.com/sigstore/sigstore-go/pkg/verify"
)

const statement = `{"_type":"https://in-toto.io/Statement/v1","subject":[{"name":"%s","digest":{"sha256":` +
	`"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"}}],"predicateType":"x","predicate":{}}`

// pair has both programs that verify, with one trusted root.
type pair struct {
	trusted *root.TrustedRoot
	theirs  *verify.Verifier
}

func newPair(t *testing.T, text []byte) pair {
	t.Helper()
	trusted, err := root.NewTrustedRootFromJSON(text)
	if err != nil {
		t.Fatal(err)
	}
	theirs, err := verify.NewVerifier(trusted, verify.WithSignedCertificateTimestamps(1),
		verify.WithTransparencyLog(1), verify.WithObserverTimestamps(1))
	if err != nil {
		t.Fatal(err)
	}
	return pair{trusted, theirs}
}

// verify says by whom a bundle is signed, for berth and for sigstore's library.
func (p pair) verify(text []byte) (ours, theirs sigstore.Signer, oursErr, theirsErr error) {
	signed, oursErr := sigstore.FromBundle(text)
	if oursErr == nil {
		ours, oursErr = sigstore.Verify(signed, p.trusted)
	}
	var b bundle.Bundle
	theirsErr = b.UnmarshalJSON(text)
	if theirsErr != nil {
		return ours, theirs, oursErr, theirsErr
	}
	policy := verify.NewPolicy(verify.WithoutArtifactUnsafe(), verify.WithoutIdentitiesUnsafe())
	result, theirsErr := p.theirs.Verify(&b, policy)
	if theirsErr == nil {
		of := result.Signature.Certificate
		theirs = sigstore.Signer{Subject: of.SubjectAlternativeName, Issuer: of.Issuer}
	}
	return ours, theirs, oursErr, theirsErr
}

// Both say the same of what is signed in any way.
func TestTheSame(t *testing.T) {
	s := sigstoretest.New(t)
	p := newPair(t, s.Root())
	for name, o := range map[string]sigstoretest.Signing{
		"ordinary":                          {},
		"stamped":                           {Stamped: true},
		"stamped, without a promise":        {Stamped: true, NoPromise: true},
		"without a time":                    {NoPromise: true},
		"Rekor 2":                           {Rekor2: true, Stamped: true},
		"Rekor 2 without a timestamp":       {Rekor2: true},
		"no SCT":                            {NoSCT: true},
		"no entry":                          {NoEntry: true, Stamped: true},
		"late":                              {After: 11 * time.Minute},
		"early":                             {After: -time.Second},
		"at the end":                        {After: 10 * time.Minute},
		"before the log":                    {After: -2 * time.Hour},
		"of another signature":              {OtherSignature: true},
		"of another certificate":            {OtherCertificate: true},
		"of another certificate in Rekor 2": {OtherCertificate: true, Rekor2: true, Stamped: true},
		"a workflow":                        {Subject: "https://example.com/a/b@refs/tags/v1"},
		"a user":                            {Subject: "alice!example.com"},
		"a user in Rekor 2":                 {Subject: "alice!example.com", Rekor2: true, Stamped: true},
	} {
		t.Run(name, func(t *testing.T) {
			text := s.Marshal(s.Bundle(fmt.Appendf(nil, statement, "a"), o))
			ours, theirs, oursErr, theirsErr := p.verify(text)
			if (oursErr == nil) != (theirsErr == nil) || oursErr == nil && ours != theirs {
				t.Errorf("berth: %s, %v; sigstore-go: %s, %v", ours, oursErr, theirs, theirsErr)
			}
		})
	}
	public, err := os.ReadFile(filepath.Join(testdata, "public-good.json"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"npm.sigstore.json", "oci-attestation.sigstore.json"} {
		text, err := os.ReadFile(filepath.Join(testdata, name))
		if err != nil {
			t.Fatal(err)
		}
		ours, theirs, oursErr, theirsErr := newPair(t, public).verify(text)
		if oursErr != nil || theirsErr != nil || ours != theirs {
			t.Errorf("%s: berth: %s, %v; sigstore-go: %s, %v", name, ours, oursErr, theirs, theirsErr)
		}
	}
}

// A log of Rekor 2 with a key of Ed25519 is known by another name than one of Rekor 1.
func TestTheSameOfEd25519(t *testing.T) {
	s, other := sigstoretest.NewEd25519(t), sigstoretest.NewEd25519(t)
	p := newPair(t, s.Root())
	o := sigstoretest.Signing{Rekor2: true, Stamped: true}
	for by, good := range map[*sigstoretest.Sigstore]bool{s: true, other: false} {
		ours, theirs, oursErr, theirsErr := p.verify(by.Marshal(by.Bundle(fmt.Appendf(nil, statement, "a"), o)))
		if (oursErr == nil) != good || (theirsErr == nil) != good || ours != theirs {
			t.Errorf("berth: %s, %v; sigstore-go: %s, %v", ours, oursErr, theirs, theirsErr)
		}
	}
}

const testdata = "../../internal/bundle/sigstore/testdata"

// laxer are the parts of a bundle without which berth takes it and sigstore's library does not. Nothing that is signed
// is read from them.
var laxer = map[string]string{
	".mediaType": "every version is read in the same way",
	".verificationMaterial.tlogEntries.kindVersion": "what the entry says itself counts, as at cosign's tag, which " +
		"has nothing else",
	".verificationMaterial.tlogEntries.inclusionProof": "the log's promise is enough, as at cosign's tag",
	".verificationMaterial.tlogEntries.logIndex":       "of Rekor 2 the index of the proof counts",
}

// stricter are those that berth reads and sigstore's library does not.
var stricter = map[string]string{
	".verificationMaterial.tlogEntries.kindVersion.kind":        "it has to be that of the entry",
	".verificationMaterial.tlogEntries.kindVersion.version":     "it has to be that of the entry",
	".verificationMaterial.tlogEntries.inclusionProof.rootHash": "of Rekor 2: it has to be what the log has signed",
	".verificationMaterial.tlogEntries.inclusionProof.treeSize": "of Rekor 2: it has to be what the log has signed",
	".verificationMaterial.tlogEntries.inclusionProof.logIndex": "of Rekor 2: see above",
	".verificationMaterial.tlogEntries.canonicalizedBody":       "of Rekor 2: sigstore's library makes it itself",
}

// Whatever part of a bundle is left out, or replaced by that of another one, both say the same, but for what is known.
func TestChanged(t *testing.T) {
	s, other := sigstoretest.New(t), sigstoretest.New(t)
	p := newPair(t, s.Root())
	for name, o := range map[string]sigstoretest.Signing{
		"ordinary": {Stamped: true}, "Rekor 2": {Rekor2: true, Stamped: true},
		"a user": {Stamped: true, Subject: "alice!example.com"},
	} {
		read := func(by *sigstoretest.Sigstore, of string) (b map[string]any) {
			if err := json.Unmarshal(by.Marshal(by.Bundle(fmt.Appendf(nil, statement, of), o)), &b); err != nil {
				t.Fatal(err)
			}
			return b
		}
		own := read(s, "a")
		for from, b := range map[string]map[string]any{
			"nothing": {}, "another": read(s, "b"), "another sigstore": read(other, "a"),
		} {
			changes(own, b, "", func(path string) {
				text, err := json.Marshal(own)
				if err != nil {
					t.Fatal(err)
				}
				ours, theirs, oursErr, theirsErr := p.verify(text)
				switch {
				case oursErr == nil && theirsErr != nil && laxer[path] != "":
				case oursErr != nil && theirsErr == nil && stricter[path] != "":
				case (oursErr == nil) != (theirsErr == nil) || oursErr == nil && ours != theirs:
					t.Errorf("%s: %s of %s: berth: %s, %v; sigstore-go: %s, %v", name, path, from, ours,
						oursErr, theirs, theirsErr)
				}
			})
		}
	}
}

// changes replaces each part of a value by that of another in turn, or leaves it out if the other has none.
func changes(own, other any, path string, do func(path string)) {
	switch own := own.(type) {
	case map[string]any:
		theirs, _ := other.(map[string]any)
		for _, key := range slices.Sorted(maps.Keys(own)) {
			was := own[key]
			if is, ok := theirs[key]; ok {
				own[key] = is
			} else {
				delete(own, key)
			}
			do(path + "." + key)
			own[key] = was
			changes(was, theirs[key], path+"."+key, do)
		}
	case []any:
		theirs, _ := other.([]any)
		for i, was := range own {
			var is any
			if i < len(theirs) {
				is = theirs[i]
			}
			changes(was, is, path, do)
		}
	}
}
