package sigstore_test

import (
	"strings"
	"testing"

	rekorpb "github.com/sigstore/protobuf-specs/gen/pb-go/rekor/v1"

	"github.com/berthdev/berth/internal/bundle/sigstore"
	"github.com/berthdev/berth/internal/bundle/sigstore/sigstoretest"
)

// The heads of a log of Rekor 2 are signed with Ed25519, and name the key as notes do: by the name of the log, too.
func TestEd25519(t *testing.T) {
	s, other := sigstoretest.NewEd25519(t), sigstoretest.NewEd25519(t)
	material := trusted(t, s.Root())
	rekor2 := sigstoretest.Signing{Rekor2: true, Stamped: true}
	proofOf := func(e *rekorpb.TransparencyLogEntry) *rekorpb.InclusionProof { return e.InclusionProof }
	for name, test := range map[string]struct {
		signing sigstoretest.Signing
		do      func(own, foreign *rekorpb.TransparencyLogEntry)
		says    string
	}{
		"of Rekor 2":     {signing: rekor2},
		"with a promise": {},
		"a head of another log": {rekor2, func(own, foreign *rekorpb.TransparencyLogEntry) {
			proofOf(own).Checkpoint = proofOf(foreign).Checkpoint
		}, "not signed by the log"},
		"a head of that log with the name of this key": {rekor2, func(own, foreign *rekorpb.TransparencyLogEntry) {
			theirs, ours := proofOf(foreign).Checkpoint, proofOf(own).Checkpoint
			text, _, _ := strings.Cut(theirs.Envelope, "\n\n")
			_, signature, _ := strings.Cut(ours.Envelope, "\n\n")
			ours.Envelope = text + "\n\n" + signature
		}, "not signed by the log"},
		"a signature by another name": {rekor2, func(own, _ *rekorpb.TransparencyLogEntry) {
			head := proofOf(own).Checkpoint
			head.Envelope = strings.Replace(head.Envelope, "— rekor.example.com ", "— another.example.com ", 1)
		}, "not signed by the log"},
		"an entry of another log": {rekor2, func(own, foreign *rekorpb.TransparencyLogEntry) {
			own.LogId = foreign.LogId
		}, "in no log that is trusted"},
		"another promise": {sigstoretest.Signing{}, func(own, foreign *rekorpb.TransparencyLogEntry) {
			own.InclusionPromise = foreign.InclusionPromise
		}, "not signed by the log"},
	} {
		t.Run(name, func(t *testing.T) {
			b := s.Bundle([]byte("x"), test.signing)
			if test.do != nil {
				test.do(entry(b), entry(other.Bundle([]byte("x"), test.signing)))
			}
			signed, err := sigstore.FromBundle(s.Marshal(b))
			if err != nil {
				t.Fatal(err)
			}
			who, err := sigstore.Verify(signed, material)
			expect(t, who, err, alice, test.says)
		})
	}
}
