package sigstoretest

import (
	"cmp"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"encoding/pem"
	"time"

	bundlepb "github.com/sigstore/protobuf-specs/gen/pb-go/bundle/v1"
	commonpb "github.com/sigstore/protobuf-specs/gen/pb-go/common/v1"
	dssepb "github.com/sigstore/protobuf-specs/gen/pb-go/dsse"
	rekorpb "github.com/sigstore/protobuf-specs/gen/pb-go/rekor/v1"
	"google.golang.org/protobuf/encoding/protojson"

	"github.com/berthdev/berth/internal/bundle/sigstore"
)

// MediaType is that of the bundles.
const MediaType = "application/vnd.dev.sigstore.bundle.v0.3+json"

func (o Signing) complete() Signing {
	o.Subject, o.Issuer = cmp.Or(o.Subject, Subject), cmp.Or(o.Issuer, Issuer)
	o.After = cmp.Or(o.After, time.Minute)
	return o
}

// Annotations signs a text as cosign does for the tag of an image.
func (s *Sigstore) Annotations(text []byte, o Signing) map[string]string {
	s.t.Helper()
	o = o.complete()
	by := s.certificate(o)
	signature := s.signed(by.key, text)
	a := map[string]string{
		sigstore.AnnotationSignature: base64.StdEncoding.EncodeToString(signature),
		sigstore.AnnotationCertificate: string(pem.EncodeToMemory(
			&pem.Block{Type: "CERTIFICATE", Bytes: by.certificate.Raw})),
	}
	if !o.NoEntry {
		a[sigstore.AnnotationBundle] = s.annotation(s.entry(o, by, text, nil, signature))
	}
	if o.Stamped {
		stamp, err := json.Marshal(map[string]any{"SignedRFC3161Timestamp": s.timestamp(o, signature)})
		s.check(err)
		a[sigstore.AnnotationTimestamp] = string(stamp)
	}
	return a
}

func (s *Sigstore) annotation(e *rekorpb.TransparencyLogEntry) string {
	text, err := json.Marshal(map[string]any{
		"SignedEntryTimestamp": e.GetInclusionPromise().GetSignedEntryTimestamp(),
		"Payload": map[string]any{
			"body": e.CanonicalizedBody, "integratedTime": e.IntegratedTime, "logIndex": e.LogIndex,
			"logID": hex.EncodeToString(e.LogId.KeyId),
		},
	})
	s.check(err)
	return string(text)
}

// Bundle signs a payload in an envelope.
func (s *Sigstore) Bundle(payload []byte, o Signing) *bundlepb.Bundle {
	s.t.Helper()
	o = o.complete()
	by := s.certificate(o)
	const payloadType = "application/vnd.in-toto+json"
	text := sigstore.EnvelopeText(payloadType, payload)
	signature := s.signed(by.key, text)
	material := &bundlepb.VerificationMaterial{
		Content: &bundlepb.VerificationMaterial_Certificate{
			Certificate: &commonpb.X509Certificate{RawBytes: by.certificate.Raw},
		},
	}
	if !o.NoEntry {
		material.TlogEntries = append(material.TlogEntries, s.entry(o, by, text, payload, signature))
	}
	if o.Stamped {
		material.TimestampVerificationData = &bundlepb.TimestampVerificationData{
			Rfc3161Timestamps: []*commonpb.RFC3161SignedTimestamp{{SignedTimestamp: s.timestamp(o, signature)}},
		}
	}
	return &bundlepb.Bundle{
		MediaType: MediaType, VerificationMaterial: material,
		Content: &bundlepb.Bundle_DsseEnvelope{DsseEnvelope: &dssepb.Envelope{
			Payload: payload, PayloadType: payloadType, Signatures: []*dssepb.Signature{{Sig: signature}},
		}},
	}
}

// Marshal writes a bundle.
func (s *Sigstore) Marshal(b *bundlepb.Bundle) []byte {
	s.t.Helper()
	text, err := protojson.Marshal(b)
	s.check(err)
	return text
}
