package sigstoretest

import (
	"crypto"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509/pkix"
	"encoding/asn1"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"time"

	"github.com/digitorus/timestamp"
	ct "github.com/google/certificate-transparency-go"
	cttls "github.com/google/certificate-transparency-go/tls"
	ctx509 "github.com/google/certificate-transparency-go/x509"
	commonpb "github.com/sigstore/protobuf-specs/gen/pb-go/common/v1"
	rekorpb "github.com/sigstore/protobuf-specs/gen/pb-go/rekor/v1"
	"github.com/transparency-dev/merkle/rfc6962"
	"golang.org/x/mod/sumdb/note"
)

const (
	hash = crypto.SHA256
	// second is the index of each entry.
	second = 1
)

func (s *Sigstore) signed(key crypto.Signer, text []byte) []byte {
	of, by := text, crypto.Hash(0)
	if len(publicOf(key)) == 0 {
		sum := sha256.Sum256(text)
		of, by = sum[:], hash
	}
	signature, err := key.Sign(rand.Reader, of, by)
	s.check(err)
	return signature
}

// sct is what the log of certificates says of one without it, as an extension.
func (s *Sigstore) sct(certificate []byte) pkix.Extension {
	at := uint64(s.begun.UnixMilli()) //nolint:gosec // after 1970
	sct := ct.SignedCertificateTimestamp{Timestamp: at}
	copy(sct.LogID.KeyID[:], logID(s.t, s.certificates))
	text, err := ct.SerializeSCTSignatureInput(sct, ct.LogEntry{Leaf: ct.MerkleTreeLeaf{
		Version: ct.V1, LeafType: ct.TimestampedEntryLeafType, TimestampedEntry: &ct.TimestampedEntry{
			Timestamp: at, EntryType: ct.PrecertLogEntryType, PrecertEntry: &ct.PreCert{
				IssuerKeyHash:  sha256.Sum256(s.issuing.certificate.RawSubjectPublicKeyInfo),
				TBSCertificate: certificate,
			},
		},
	}})
	s.check(err)
	sct.Signature = ct.DigitallySigned{
		Algorithm: cttls.SignatureAndHashAlgorithm{Hash: cttls.SHA256, Signature: cttls.ECDSA},
		Signature: s.signed(s.certificates, text),
	}
	one, err := cttls.Marshal(sct)
	s.check(err)
	list, err := cttls.Marshal(ctx509.SignedCertificateTimestampList{SCTList: []ctx509.SerializedSCT{{Val: one}}})
	s.check(err)
	value, err := asn1.Marshal(list)
	s.check(err)
	return pkix.Extension{Id: asn1.ObjectIdentifier{1, 3, 6, 1, 4, 1, 11129, 2, 4, 2}, Value: value}
}

// entry logs a signature: of the text itself, or of the payload of an envelope if there is one.
func (s *Sigstore) entry(o Signing, by *authority, text, payload, signature []byte) *rekorpb.TransparencyLogEntry {
	if o.OtherSignature {
		signature = s.signed(by.key, text)
	}
	if o.OtherCertificate {
		by = s.certificate(Signing{Subject: "mallory@example.com", Issuer: o.Issuer})
	}
	kind, version, spec := "hashedrekord", "0.0.1", map[string]any{}
	certificate := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: by.certificate.Raw})
	sum := func(of []byte) map[string]any {
		return map[string]any{"algorithm": "sha256", "value": fmt.Sprintf("%x", sha256.Sum256(of))}
	}
	switch {
	case o.Rekor2:
		version = "0.0.2"
		digest := sha256.Sum256(text)
		spec["hashedRekordV002"] = map[string]any{
			"data": map[string]any{"algorithm": "SHA2_256", "digest": digest[:]},
			"signature": map[string]any{"content": signature, "verifier": map[string]any{
				"keyDetails":      "PKIX_ECDSA_P256_SHA_256",
				"x509Certificate": map[string]any{"rawBytes": by.certificate.Raw},
			}},
		}
	case payload != nil:
		kind = "dsse"
		spec["payloadHash"], spec["envelopeHash"] = sum(payload), sum(text)
		spec["signatures"] = []any{map[string]any{"signature": signature, "verifier": certificate}}
	default:
		spec["data"] = map[string]any{"hash": sum(text)}
		spec["signature"] = map[string]any{
			"content": signature, "publicKey": map[string]any{"content": certificate},
		}
	}
	body, err := json.Marshal(map[string]any{"apiVersion": version, "kind": kind, "spec": spec})
	s.check(err)
	e := &rekorpb.TransparencyLogEntry{
		LogIndex: second, LogId: &commonpb.LogId{KeyId: logID(s.t, s.rekor)}, CanonicalizedBody: body,
		KindVersion: &rekorpb.KindVersion{Kind: kind, Version: version},
	}
	if !o.NoPromise && !o.Rekor2 {
		s.promise(e, s.begun.Add(o.After))
	}
	if !o.NoProof {
		e.InclusionProof = s.proof(o, body)
	}
	return e
}

func (s *Sigstore) promise(e *rekorpb.TransparencyLogEntry, at time.Time) {
	e.IntegratedTime = at.Unix()
	text := fmt.Sprintf(`{"body":%q,"integratedTime":%d,"logID":"%x","logIndex":%d}`,
		base64.StdEncoding.EncodeToString(e.CanonicalizedBody), e.IntegratedTime, e.LogId.KeyId, e.LogIndex)
	e.InclusionPromise = &rekorpb.InclusionPromise{SignedEntryTimestamp: s.signed(s.rekor, []byte(text))}
}

// proof is one that an entry is the second of a log of three.
func (s *Sigstore) proof(o Signing, body []byte) *rekorpb.InclusionProof {
	h := rfc6962.DefaultHasher
	first, third := h.HashLeaf([]byte("first")), h.HashLeaf([]byte("third"))
	top := h.HashChildren(h.HashChildren(first, h.HashLeaf(body)), third)
	origin := host + " - 42"
	if o.Rekor2 {
		origin = host
	}
	signed, err := note.Sign(&note.Note{
		Text: fmt.Sprintf("%s\n3\n%s\n", origin, base64.StdEncoding.EncodeToString(top)),
	}, noteSigner{s})
	s.check(err)
	return &rekorpb.InclusionProof{
		LogIndex: second, TreeSize: 3, RootHash: top, Hashes: [][]byte{first, third},
		Checkpoint: &rekorpb.Checkpoint{Envelope: string(signed)},
	}
}

// noteSigner signs the heads of the log.
type noteSigner struct{ *Sigstore }

func (n noteSigner) Name() string                     { return host }
func (n noteSigner) KeyHash() uint32                  { return binary.BigEndian.Uint32(logID(n.t, n.rekor)) }
func (n noteSigner) Sign(text []byte) ([]byte, error) { return n.signed(n.rekor, text), nil }

// timestamp says when a signature was made.
func (s *Sigstore) timestamp(o Signing, signature []byte) []byte {
	sum := sha256.Sum256(signature)
	stamp := timestamp.Timestamp{
		HashAlgorithm: hash, HashedMessage: sum[:], Time: s.begun.Add(o.After),
		Policy: asn1.ObjectIdentifier{1, 3, 6, 1, 4, 1, 57264, 2},
	}
	response, err := stamp.CreateResponseWithOpts(s.stamp.certificate, s.stamp.key, hash)
	s.check(err)
	return response
}
