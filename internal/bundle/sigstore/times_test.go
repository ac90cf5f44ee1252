package sigstore_test

import (
	"testing"
	"time"

	bundlepb "github.com/sigstore/protobuf-specs/gen/pb-go/bundle/v1"

	"github.com/berthdev/berth/internal/bundle/sigstore"
	"github.com/berthdev/berth/internal/bundle/sigstore/sigstoretest"
)

// A timestamp counts for its own signature and from an authority that is trusted.
func TestTimestamps(t *testing.T) {
	s, other := sigstoretest.New(t), sigstoretest.New(t)
	material := trusted(t, s.Root())
	rekor2 := sigstoretest.Signing{Rekor2: true, Stamped: true}
	late := rekor2
	late.After = time.Hour
	stamps := func(b *bundlepb.Bundle) *bundlepb.TimestampVerificationData {
		return b.VerificationMaterial.TimestampVerificationData
	}
	for name, test := range map[string]tampered{
		"its own": {do: func(_, _, _ *bundlepb.Bundle) {}},
		"of another signature": {do: func(b, another, _ *bundlepb.Bundle) {
			b.VerificationMaterial.TimestampVerificationData = stamps(another)
		}, says: "no time that is trusted"},
		"of another authority": {do: func(b, _, foreign *bundlepb.Bundle) {
			b.VerificationMaterial.TimestampVerificationData = stamps(foreign)
		}, says: "no time that is trusted"},
		"not one": {do: func(b, _, _ *bundlepb.Bundle) {
			stamps(b).Rfc3161Timestamps[0].SignedTimestamp = []byte("x")
		}, says: "no time that is trusted"},
		"too many": {do: func(b, _, _ *bundlepb.Bundle) {
			for range 4 {
				stamps(b).Rfc3161Timestamps = append(stamps(b).Rfc3161Timestamps, stamps(b).Rfc3161Timestamps[0])
			}
		}, says: "more than 4 timestamps"},
		"a huge one": {do: func(b, _, _ *bundlepb.Bundle) {
			stamps(b).Rfc3161Timestamps[0].SignedTimestamp = make([]byte, 1<<14+1)
		}, says: "more than 16 KiB"},
		"after its certificate": {do: func(b, _, _ *bundlepb.Bundle) {
			after := s.Bundle([]byte("statement"), late)
			b.VerificationMaterial, b.Content = after.VerificationMaterial, after.Content
		}, says: "its certificate is valid from"},
	} {
		t.Run(name, func(t *testing.T) {
			b := s.Bundle([]byte("statement"), rekor2)
			test.do(b, s.Bundle([]byte("of another"), rekor2), other.Bundle([]byte("statement"), rekor2))
			signed, err := sigstore.FromBundle(s.Marshal(b))
			if err != nil {
				t.Fatal(err)
			}
			who, err := sigstore.Verify(signed, material)
			expect(t, who, err, alice, test.says)
		})
	}
}

// The key of a log has to be valid at each time: also where its entry, or its proof, has none itself.
func TestEndedLog(t *testing.T) {
	s := sigstoretest.New(t)
	for name, signing := range map[string]sigstoretest.Signing{
		"promised":             {},
		"promised and stamped": {Stamped: true},
		"proven and stamped":   {NoPromise: true, Stamped: true},
		"Rekor 2 and stamped":  {Rekor2: true, Stamped: true},
	} {
		signing.After = 5 * time.Minute
		for end, says := range map[time.Duration]string{
			5 * time.Minute: "", 4 * time.Minute: "when the key of its log was not valid",
		} {
			t.Run(name+"/"+end.String(), func(t *testing.T) {
				signed, err := sigstore.FromBundle(s.Marshal(s.Bundle([]byte("statement"), signing)))
				if err != nil {
					t.Fatal(err)
				}
				who, err := sigstore.Verify(signed, trusted(t, s.RootUntil(end)))
				expect(t, who, err, alice, says)
			})
		}
	}
}
