package sigstore

import (
	"bytes"
	"crypto"
	_ "crypto/sha512" // of entries
	"crypto/x509"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"encoding/pem"
	"errors"

	rekorpb "github.com/sigstore/protobuf-specs/gen/pb-go/rekor/v1"
)

// body is what an entry of a log says, of all kinds that are known.
type body struct {
	Kind    string `json:"kind"`
	Version string `json:"apiVersion"`
	Spec    struct {
		// hashedrekord 0.0.1
		Data      struct{ Hash hexHash } `json:"data"`
		Signature struct {
			Content   []byte `json:"content"`
			PublicKey struct {
				Content []byte `json:"content"`
			} `json:"publicKey"`
		} `json:"signature"`
		// dsse 0.0.1
		PayloadHash hexHash `json:"payloadHash"`
		Signatures  []struct {
			Signature []byte `json:"signature"`
			Verifier  []byte `json:"verifier"`
		} `json:"signatures"`
		// intoto 0.0.2, where the signature is in Base64 twice
		Content struct {
			PayloadHash hexHash `json:"payloadHash"`
			Envelope    struct {
				Signatures []struct {
					PublicKey []byte `json:"publicKey"`
					Sig       []byte `json:"sig"`
				} `json:"signatures"`
			} `json:"envelope"`
		} `json:"content"`
		// hashedrekord 0.0.2, which alone sigstore reads of Rekor 2
		Hashed struct {
			Data      rawHash      `json:"data"`
			Signature rawSignature `json:"signature"`
		} `json:"hashedRekordV002"`
	} `json:"spec"`
}

type hexHash struct {
	Algorithm string `json:"algorithm"`
	Value     string `json:"value"`
}

type rawHash struct {
	Algorithm string `json:"algorithm"`
	Digest    []byte `json:"digest"`
}

type rawSignature struct {
	Content  []byte `json:"content"`
	Verifier struct {
		Certificate struct {
			Raw []byte `json:"rawBytes"`
		} `json:"x509Certificate"`
	} `json:"verifier"`
}

// record is what an entry says of a signature.
type record struct {
	algorithm                   string
	sum, signature, certificate []byte
	// ofPayload is true where the sum is that of the payload of an envelope instead of the text that is signed.
	ofPayload bool
}

// isOf finds out whether an entry is of exactly this signature.
func (s *Signed) isOf(e *rekorpb.TransparencyLogEntry, leaf *x509.Certificate) error {
	var b body
	if err := json.Unmarshal(e.GetCanonicalizedBody(), &b); err != nil {
		return errors.New("its entry of the log is not valid")
	}
	if v := e.GetKindVersion(); v != nil && (v.GetKind() != b.Kind || v.GetVersion() != b.Version) {
		return errors.New("its entry of the log is of another kind than it says")
	}
	r, ok := b.record()
	if !ok {
		return errors.New("its entry of the log is of a kind that is not known")
	}
	text := s.Text
	if r.ofPayload {
		text = s.Payload
	}
	of := map[string]crypto.Hash{
		"sha256": crypto.SHA256, "sha384": crypto.SHA384, "sha512": crypto.SHA512,
		"SHA2_256": crypto.SHA256, "SHA2_384": crypto.SHA384, "SHA2_512": crypto.SHA512,
	}[r.algorithm]
	if of == 0 || r.ofPayload && s.Payload == nil {
		return errors.New("its entry of the log is of a kind that is not known")
	}
	h := of.New()
	_, _ = h.Write(text)
	switch {
	case !bytes.Equal(h.Sum(nil), r.sum):
		return errors.New("its entry of the log is of something else")
	case !bytes.Equal(r.signature, s.Signature):
		return errors.New("its entry of the log is of another signature")
	case !bytes.Equal(r.certificate, leaf.Raw):
		return errors.New("its entry of the log is of another certificate")
	}
	return nil
}

// record reads an entry of one signature with a certificate.
func (b *body) record() (r record, ok bool) {
	spec := &b.Spec
	switch b.Kind + " " + b.Version {
	case "hashedrekord 0.0.1":
		return hexRecord(spec.Data.Hash, spec.Signature.Content, spec.Signature.PublicKey.Content, false)
	case "dsse 0.0.1":
		if len(spec.Signatures) == 1 {
			return hexRecord(spec.PayloadHash, spec.Signatures[0].Signature, spec.Signatures[0].Verifier, true)
		}
	case "intoto 0.0.2":
		if all := spec.Content.Envelope.Signatures; len(all) == 1 {
			signature, err := base64.StdEncoding.DecodeString(string(all[0].Sig))
			if err != nil {
				return r, false
			}
			return hexRecord(spec.Content.PayloadHash, signature, all[0].PublicKey, true)
		}
	case "hashedrekord 0.0.2":
		sum, s := spec.Hashed.Data, spec.Hashed.Signature
		return record{sum.Algorithm, sum.Digest, s.Content, s.Verifier.Certificate.Raw, false}, true
	}
	return r, false
}

func hexRecord(sum hexHash, signature, certificate []byte, ofPayload bool) (r record, ok bool) {
	raw, err := hex.DecodeString(sum.Value)
	block, _ := pem.Decode(certificate)
	if err != nil || block == nil {
		return r, false
	}
	return record{sum.Algorithm, raw, signature, block.Bytes, ofPayload}, true
}
