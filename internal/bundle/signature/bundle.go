package signature

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/berthdev/berth/internal/bundle/sigstore"
	"github.com/berthdev/berth/internal/registry/pull"
)

// sigstoreBundle is what is read of a bundle of sigstore that has an envelope, where a key has signed. What else it
// says, such as the entry of a transparency log, is about certificates, or adds to what a key says.
type sigstoreBundle struct {
	Material struct {
		PublicKey struct {
			Hint string `json:"hint"`
		} `json:"publicKey"`
	} `json:"verificationMaterial"`
	Envelope struct {
		Payload     []byte `json:"payload"`
		PayloadType string `json:"payloadType"`
		Signatures  []struct {
			Sig []byte `json:"sig"`
		} `json:"signatures"`
	} `json:"dsseEnvelope"`
}

const (
	typeOfStatement = "application/vnd.in-toto+json"
	maxSignatures   = 16 // of an envelope
	maxSubjects     = 64 // of a statement
)

// bundle verifies a bundle that refers to an image: a statement about digests, in an envelope with signatures.
func (p *Policy) bundle(ctx context.Context, a pull.Attachment, digest string) (by string, _ found) {
	var b sigstoreBundle
	if err := json.Unmarshal(a.Content, &b); err != nil {
		return "", found{ReasonUntrusted, "a signature that is not valid: it is no bundle of sigstore"}
	}
	e := b.Envelope
	if e.PayloadType != typeOfStatement || len(e.Signatures) == 0 || len(e.Signatures) > maxSignatures {
		return "", found{ReasonUntrusted, "a bundle of sigstore without the signature of a statement"}
	}
	text := sigstore.EnvelopeText(e.PayloadType, e.Payload)
	var signer *key
	for _, s := range e.Signatures {
		if signer = p.signer(text, s.Sig); signer != nil {
			return statement(e.Payload, signer.String(), digest)
		}
	}
	signed, err := sigstore.FromBundle(a.Content)
	if err == nil && len(signed.Certificate) == 0 {
		return "", found{ReasonUntrusted, "it is signed with " + another(b.Material.PublicKey.Hint)}
	}
	by, problem := p.identified(ctx, signed, err)
	if by == "" {
		return "", problem
	}
	// What was verified is read, rather than what was taken for the same above.
	if signed.PayloadType != typeOfStatement {
		return "", notOfImage(by)
	}
	return statement(signed.Payload, by, digest)
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
