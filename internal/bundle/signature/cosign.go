package signature

import (
	"context"
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"encoding/pem"
	"fmt"

	"github.com/berthdev/berth/internal/bundle/sigstore"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/registry/pull"
)

// key is a public key of cosign.
type key struct {
	public      crypto.PublicKey
	fingerprint string
}

const (
	leastRSA = 2048  // bits
	mostRSA  = 16384 // bits
)

// parseKeys reads the public keys of a text.
func parseKeys(text []byte, where string) (keys []key, _ error) {
	const hint = "name the file that `cosign generate-key-pair` or `cosign public-key` writes: cosign.pub"
	for rest := text; ; {
		var block *pem.Block
		if block, rest = pem.Decode(rest); block == nil {
			break
		}
		if block.Type != "PUBLIC KEY" {
			return nil, fault.New(fault.InvalidArgument, "%s has a %s, not a PUBLIC KEY", where, block.Type).
				WithHint(hint)
		}
		public, err := x509.ParsePKIXPublicKey(block.Bytes)
		if err != nil {
			return nil, fault.New(fault.InvalidArgument, "%s is not valid: %w", where, err).WithHint(hint)
		}
		switch k := public.(type) {
		case *ecdsa.PublicKey, ed25519.PublicKey:
		case *rsa.PublicKey:
			if n := k.N.BitLen(); n < leastRSA || n > mostRSA {
				return nil, fault.New(fault.InvalidArgument, "%s is an RSA key of %d bits: %d to %d are accepted",
					where, n, leastRSA, mostRSA)
			}
		default:
			return nil, fault.New(fault.InvalidArgument, "%s is of a kind that is not known: %T", where, public).
				WithHint("use a key of ECDSA, Ed25519 or RSA")
		}
		sum := sha256.Sum256(block.Bytes)
		keys = append(keys, key{public: public, fingerprint: "sha256:" + hex.EncodeToString(sum[:])})
		if len(keys) > maxKeys {
			return nil, fault.New(fault.InvalidArgument, "%s has more than %d keys", where, maxKeys)
		}
	}
	if len(keys) == 0 {
		return nil, fault.New(fault.InvalidArgument, "%s is not a public key in PEM", where).WithHint(hint)
	}
	return keys, nil
}

// String names the key.
func (k key) String() string { return "key " + k.fingerprint }

// signer returns the key that made the signature of a text, or nil if it is not a key of the policy.
func (p *Policy) signer(text, signature []byte) *key {
	for i := range p.keys {
		if sigstore.Verifies(p.keys[i].public, text, signature) {
			return &p.keys[i]
		}
	}
	return nil
}

// Image finds out by whom an image was signed, and refuses one without a signature that counts. Of a chart, helm's
// provenance counts as well.
func (p *Policy) Image(ctx context.Context, image *pull.Image) (by string, _ error) {
	if p == nil {
		return "", nil
	}
	var all []found
	if p.ofCosign() {
		by, problems, err := p.cosigned(ctx, image)
		if by != "" || err != nil {
			return by, err
		}
		all = problems
	}
	if len(p.keyring) > 0 && image.Chart {
		by, problem, err := p.pushed(ctx, image)
		if by != "" || err != nil {
			return by, err
		}
		all = append(all, problem)
	}
	what := "image " + image.Ref
	hint := "sign it with `cosign sign`, or name the key or the identity that has signed it: --" + FlagKey + ", or --" +
		FlagIdentity + " with --" + FlagIssuer
	switch {
	case image.Chart:
		what, hint = "chart "+image.Ref, hint+", or, of a chart that `helm package --sign` has packed, --"+FlagKeyring
	case !p.ofCosign():
		all = append(all, found{
			ReasonUnsigned, "a keyring is for charts, and neither a key of cosign nor an identity is given",
		})
	}
	return "", refusal(what, all, hint)
}

// cosigned finds the first signature of an image that counts. Without one, all says what there is.
func (p *Policy) cosigned(ctx context.Context, image *pull.Image) (by string, all []found, _ error) {
	for a, err := range image.Attachments(ctx) {
		if err == nil {
			err = ctx.Err() // verifying takes its time
		}
		if err != nil {
			return "", nil, err
		}
		by, problem := p.attached(ctx, a, image.Digest().String())
		if by != "" {
			return by, nil, nil
		}
		if problem.reason != "" {
			all = append(all, problem)
		}
	}
	return "", all, ctx.Err()
}

// attached verifies what a registry has beside an image, in whichever form cosign wrote it.
func (p *Policy) attached(ctx context.Context, a pull.Attachment, digest string) (by string, _ found) {
	if a.MediaType == pull.TypeBundle {
		return p.bundle(ctx, a, digest)
	}
	return p.payload(ctx, a, digest)
}

const (
	typeOfPayload = "cosign container image signature"
	typeOfSigned  = "https://sigstore.dev/cosign/sign/v1"
)

// payload verifies a signature of cosign's tag: a text that names the digest of an image, and the signature of it in an
// annotation.
func (p *Policy) payload(ctx context.Context, a pull.Attachment, digest string) (by string, _ found) {
	signature, err := base64.StdEncoding.DecodeString(a.Annotations[sigstore.AnnotationSignature])
	if err != nil || len(signature) == 0 {
		return "", found{ReasonUntrusted, "a signature without a valid annotation " + sigstore.AnnotationSignature}
	}
	switch signer := p.signer(a.Content, signature); {
	case signer != nil:
		by = signer.String()
	case a.Annotations[sigstore.AnnotationCertificate] == "":
		return "", found{ReasonUntrusted, "it is signed with another key"}
	default:
		signed, err := sigstore.FromAnnotations(a.Content, a.Annotations)
		var problem found
		if by, problem = p.identified(ctx, signed, err); by == "" {
			return "", problem
		}
	}
	var payload struct {
		Critical struct {
			Image struct {
				Digest string `json:"docker-manifest-digest"`
			} `json:"image"`
			Type string `json:"type"`
		} `json:"critical"`
	}
	err = json.Unmarshal(a.Content, &payload)
	of := payload.Critical
	switch {
	case err != nil, of.Type != typeOfPayload && of.Type != typeOfSigned:
		return "", notOfImage(by)
	case of.Image.Digest != digest:
		return "", found{ReasonOfOther, fmt.Sprintf("the signature of %s is of %s", by, short(of.Image.Digest))}
	}
	return by, found{}
}

func notOfImage(by string) found {
	return found{ReasonOfOther, "what " + by + " has signed is not the signature of an image"}
}

// another says what else than a key that counts has signed, as the signature has it.
func another(hint string) string {
	if hint != "" {
		return "another key, which it says is " + fingerprintOf(hint)
	}
	return "another key"
}

// fingerprintOf is the hint of cosign about a key as the fingerprint that it is.
func fingerprintOf(hint string) string {
	if sum, err := base64.StdEncoding.DecodeString(hint); err == nil && len(sum) == sha256.Size {
		return "sha256:" + hex.EncodeToString(sum)
	}
	return fault.Line(hint)
}
