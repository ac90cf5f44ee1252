package sigstore

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"

	bundlepb "github.com/sigstore/protobuf-specs/gen/pb-go/bundle/v1"
	commonpb "github.com/sigstore/protobuf-specs/gen/pb-go/common/v1"
	rekorpb "github.com/sigstore/protobuf-specs/gen/pb-go/rekor/v1"
	"google.golang.org/protobuf/encoding/protojson"
)

// Signed is a signature, with what says by whom it was made, and when.
type Signed struct {
	// Text is what was signed.
	Text, Signature []byte
	// Certificate is that of the signer. The certificates between it and a root are those of the trusted root: what
	// is sent along about them is not read.
	Certificate []byte
	// Payload is what an envelope has in it, where Text is the whole of it; otherwise nil.
	Payload    []byte
	Entries    []*rekorpb.TransparencyLogEntry
	Timestamps [][]byte
}

// The annotations in which cosign has what belongs to a signature. The chain is left where it is.
const (
	AnnotationSignature   = "dev.cosignproject.cosign/signature"
	AnnotationCertificate = "dev.sigstore.cosign/certificate"
	AnnotationBundle      = "dev.sigstore.cosign/bundle"
	AnnotationTimestamp   = "dev.sigstore.cosign/rfc3161timestamp"
)

// FromAnnotations reads a signature as cosign has put it at a tag: beside the text, in annotations.
func FromAnnotations(text []byte, annotations map[string]string) (s *Signed, err error) {
	s = &Signed{Text: text}
	if s.Signature, err = base64.StdEncoding.DecodeString(annotations[AnnotationSignature]); err != nil {
		return nil, errors.New("its signature is not valid")
	}
	block, _ := pem.Decode([]byte(annotations[AnnotationCertificate]))
	if block == nil || block.Type != "CERTIFICATE" {
		return nil, errors.New("its certificate is not valid")
	}
	s.Certificate = block.Bytes
	if entry := annotations[AnnotationBundle]; entry != "" {
		read, err := annotatedEntry(entry)
		if err != nil {
			return nil, err
		}
		s.Entries = append(s.Entries, read)
	}
	if stamp := annotations[AnnotationTimestamp]; stamp != "" {
		var t struct {
			SignedRFC3161Timestamp []byte
		}
		if err := json.Unmarshal([]byte(stamp), &t); err != nil {
			return nil, errors.New("its timestamp is not valid")
		}
		s.Timestamps = append(s.Timestamps, t.SignedRFC3161Timestamp)
	}
	return s, nil
}

// annotatedEntry is an entry of Rekor as cosign has it in an annotation, with Rekor's promise instead of a proof.
func annotatedEntry(text string) (*rekorpb.TransparencyLogEntry, error) {
	var e struct {
		SignedEntryTimestamp []byte
		Payload              struct {
			Body           []byte `json:"body"`
			IntegratedTime int64  `json:"integratedTime"`
			LogIndex       int64  `json:"logIndex"`
			LogID          string `json:"logID"`
		}
	}
	if err := json.Unmarshal([]byte(text), &e); err != nil {
		return nil, errors.New("its entry of the log is not valid")
	}
	id, err := hex.DecodeString(e.Payload.LogID)
	if err != nil {
		return nil, errors.New("its entry of the log is not valid")
	}
	return &rekorpb.TransparencyLogEntry{
		LogIndex: e.Payload.LogIndex, LogId: &commonpb.LogId{KeyId: id}, IntegratedTime: e.Payload.IntegratedTime,
		InclusionPromise:  &rekorpb.InclusionPromise{SignedEntryTimestamp: e.SignedEntryTimestamp},
		CanonicalizedBody: e.Payload.Body,
	}, nil
}

// Bundle is a bundle of sigstore that has an envelope, whether a key or the owner of a certificate has signed it.
type Bundle struct {
	PayloadType string
	Payload     []byte
	Signatures  [][]byte
	// Hint is what it says of the key; empty for a certificate.
	Hint string

	material *bundlepb.VerificationMaterial
}

// ReadBundle reads one.
func ReadBundle(text []byte) (*Bundle, error) {
	var b bundlepb.Bundle
	if err := (protojson.UnmarshalOptions{DiscardUnknown: true}).Unmarshal(text, &b); err != nil {
		return nil, errors.New("it is no bundle of sigstore")
	}
	envelope, material := b.GetDsseEnvelope(), b.GetVerificationMaterial()
	read := &Bundle{
		PayloadType: envelope.GetPayloadType(), Payload: envelope.GetPayload(),
		Hint: material.GetPublicKey().GetHint(), material: material,
	}
	for _, s := range envelope.GetSignatures() {
		read.Signatures = append(read.Signatures, s.GetSig())
	}
	return read, nil
}

// Text is what is signed.
func (b *Bundle) Text() []byte { return EnvelopeText(b.PayloadType, b.Payload) }

// Signed is the one signature of the envelope, with what says by whom it is. The certificate may be missing.
func (b *Bundle) Signed() (*Signed, error) {
	if len(b.Signatures) != 1 {
		return nil, errors.New("it is not one signature of an envelope")
	}
	s := &Signed{
		Text: b.Text(), Payload: b.Payload, Signature: b.Signatures[0],
		Certificate: b.material.GetCertificate().GetRawBytes(), Entries: b.material.GetTlogEntries(),
	}
	// Before version 0.3 the certificate was the first of a chain.
	if chain := b.material.GetX509CertificateChain().GetCertificates(); len(chain) > 0 {
		s.Certificate = chain[0].GetRawBytes()
	}
	for _, t := range b.material.GetTimestampVerificationData().GetRfc3161Timestamps() {
		s.Timestamps = append(s.Timestamps, t.GetSignedTimestamp())
	}
	return s, nil
}

// FromBundle reads the signature of an envelope out of a bundle.
func FromBundle(text []byte) (*Signed, error) {
	b, err := ReadBundle(text)
	if err != nil {
		return nil, err
	}
	return b.Signed()
}

// EnvelopeText is what is signed of an envelope: its type and its payload, with their lengths.
func EnvelopeText(payloadType string, payload []byte) []byte {
	text := fmt.Appendf(nil, "DSSEv1 %d %s %d ", len(payloadType), payloadType, len(payload))
	return append(text, payload...)
}
