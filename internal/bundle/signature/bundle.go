package signature

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/berthdev/berth/internal/bundle/sigstore"
	"github.com/berthdev/berth/internal/registry/pull"
)

const (
	typeOfStatement = "application/vnd.in-toto+json"
	maxSignatures   = 16 // of an envelope
	maxSubjects     = 64 // of a statement
)

// bundle verifies a bundle that refers to an image: a statement about digests, in an envelope with signatures.
func (p *Policy) bundle(ctx context.Context, a pull.Attachment, digest string) (by string, _ found) {
	b, err := sigstore.ReadBundle(a.Content)
	if err != nil {
		return "", found{ReasonUntrusted, "a signature that is not valid: " + err.Error()}
	}
	if b.PayloadType != typeOfStatement || len(b.Signatures) == 0 || len(b.Signatures) > maxSignatures {
		return "", found{ReasonUntrusted, "a bundle of sigstore without the signature of a statement"}
	}
	text := b.Text()
	for _, signature := range b.Signatures {
		if signer := p.signer(text, signature); signer != nil {
			return statement(b.Payload, signer.String(), digest)
		}
	}
	signed, err := b.Signed()
	if err == nil && len(signed.Certificate) == 0 {
		return "", found{ReasonUntrusted, "it is signed with " + another(b.Hint)}
	}
	by, problem := p.identified(ctx, signed, err)
	if by == "" {
		return "", problem
	}
	return statement(b.Payload, by, digest)
}

// statement reads what somebody has signed: it has to be that an image was signed, and not what else is said about
// images.
func statement(payload []byte, signer, digest string) (by string, _ found) {
	var s struct {
		PredicateType string `json:"predicateType"`
		Subject       []struct {
			Digest map[string]string `json:"digest"`
		} `json:"subject"`
	}
	err := json.Unmarshal(payload, &s)
	switch {
	case err != nil || len(s.Subject) == 0 || len(s.Subject) > maxSubjects:
		return "", notOfImage(signer)
	case s.PredicateType != typeOfSigned:
		return "", found{} // an attestation, which stands beside signatures
	}
	for _, subject := range s.Subject {
		if sum := subject.Digest["sha256"]; sum != "" && "sha256:"+sum == digest {
			return signer, found{}
		}
	}
	return "", found{ReasonOfOther, fmt.Sprintf("the signature of %s is of %s", signer,
		short("sha256:"+s.Subject[0].Digest["sha256"]))}
}
