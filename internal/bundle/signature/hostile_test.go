package signature_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	ocispec "github.com/opencontainers/image-spec/specs-go/v1"

	"github.com/berthdev/berth/internal/bundle/signature"
	"github.com/berthdev/berth/internal/bundle/signature/signaturetest"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/registry/pull"
)

// What stands in place of a signature does not count, and the refusal says what it is.
func TestWhatIsNoSignature(t *testing.T) {
	s, mallory := signaturetest.NewCosign(t), signaturetest.NewCosign(t)
	at := func(r repository, of ocispec.Descriptor, layers ...ocispec.Descriptor) {
		r.Manifest(signaturetest.TagOf(of), ocispec.Manifest{Layers: layers})
	}
	payload := func(r repository, of ocispec.Descriptor, signed, certificate string) ocispec.Descriptor {
		layer := r.Blob(pull.TypePayload, signaturetest.Payload(of.Digest.String()))
		layer.Annotations = map[string]string{
			"dev.cosignproject.cosign/signature": signed, "dev.sigstore.cosign/certificate": certificate,
		}
		return layer
	}
	// envelope is what mallory makes of a bundle that s has signed.
	envelope := func(of ocispec.Descriptor, change func(e map[string]any)) []byte {
		var b map[string]any
		_ = json.Unmarshal(s.Bundle(t, of.Digest.String(), signaturetest.PredicateSign), &b)
		change(b["dsseEnvelope"].(map[string]any))
		text, _ := json.Marshal(b)
		return text
	}
	valid := func(of ocispec.Descriptor) string {
		return base64.StdEncoding.EncodeToString(s.Sign(t, signaturetest.Payload(of.Digest.String())))
	}
	for name, test := range map[string]struct {
		put          func(r repository, of ocispec.Descriptor)
		reason, says string
	}{
		"no annotation": {func(r repository, of ocispec.Descriptor) {
			at(r, of, payload(r, of, "", ""))
		}, signature.ReasonUntrusted, "a signature without a valid annotation"},
		"invalid base64": {func(r repository, of ocispec.Descriptor) {
			at(r, of, payload(r, of, "!"+valid(of), ""))
		}, signature.ReasonUntrusted, "a signature without a valid annotation"},
		"bytes that are no signature": {func(r repository, of ocispec.Descriptor) {
			at(r, of, payload(r, of, "MA==", ""))
		}, signature.ReasonUntrusted, "it is signed with another key"},
		"a certificate not in PEM": {func(r repository, of ocispec.Descriptor) {
			at(r, of, payload(r, of, "MA==", "-----BEGIN \x1b[31m"))
		}, signature.ReasonUntrusted, "its certificate is not valid"},
		"an invalid certificate": {func(r repository, of ocispec.Descriptor) {
			at(r, of, payload(r, of, "MA==", "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"))
		}, signature.ReasonUntrusted, "it is signed with a certificate: keys count"},
		"an unknown media type": {func(r repository, of ocispec.Descriptor) {
			layer := payload(r, of, valid(of), "")
			layer.MediaType = "application/json"
			at(r, of, layer)
		}, signature.ReasonUnsigned, "no signature was found"},
		"an index at the tag": {func(r repository, of ocispec.Descriptor) {
			at(r, of, payload(r, of, valid(of), ""))
			r.Index(signaturetest.TagOf(of), r.Find(signaturetest.TagOf(of)))
		}, signature.ReasonUnsigned, "no signature was found"},
		"the payload of a text with a digest in it": {func(r repository, of ocispec.Descriptor) {
			s.Tag(t, r, of, fmt.Appendf(nil, "%q", signaturetest.Payload(of.Digest.String())))
		}, signature.ReasonOfOther, "is not the signature of an image"},
		"a payload without a digest": {func(r repository, of ocispec.Descriptor) {
			s.Tag(t, r, of, []byte(`{"critical":{"type":"cosign container image signature"}}`))
		}, signature.ReasonOfOther, "is of nothing"},
		"a deep payload": {func(r repository, of ocispec.Descriptor) {
			s.Tag(t, r, of, []byte(strings.Repeat(`{"critical":`, 50_000)))
		}, signature.ReasonOfOther, "is not the signature of an image"},
		"a bundle about another, of a manifest that refers to this one": {func(r repository, of ocispec.Descriptor) {
			signaturetest.Refer(r, of, s.Bundle(t, "sha256:"+strings.Repeat("0", 64), signaturetest.PredicateSign))
		}, signature.ReasonOfOther, "is of sha256:000000000000"},
		"a bundle whose statement was changed": {func(r repository, of ocispec.Descriptor) {
			signaturetest.Refer(r, of, envelope(of, func(e map[string]any) {
				text, _ := base64.StdEncoding.DecodeString(e["payload"].(string))
				e["payload"] = bytes.Replace(text, []byte("predicate"), []byte("Predicate"), 1)
			}))
		}, signature.ReasonUntrusted, "it is signed with another key"},
		"a bundle of another type": {func(r repository, of ocispec.Descriptor) {
			signaturetest.Refer(r, of, envelope(of, func(e map[string]any) { e["payloadType"] = "text/plain" }))
		}, signature.ReasonUntrusted, "without the signature of a statement"},
		"a bundle with thousands of signatures": {func(r repository, of ocispec.Descriptor) {
			signaturetest.Refer(r, of, envelope(of, func(e map[string]any) {
				e["signatures"] = strings.Split(strings.Repeat("{}", 5000), "")
			}))
		}, signature.ReasonUntrusted, "it is no bundle of sigstore"},
		"a bundle with many signatures": {func(r repository, of ocispec.Descriptor) {
			signaturetest.Refer(r, of, envelope(of, func(e map[string]any) {
				e["signatures"] = slices.Repeat(e["signatures"].([]any), 17)
			}))
		}, signature.ReasonUntrusted, "without the signature of a statement"},
		"a bundle with two envelopes": {func(r repository, of ocispec.Descriptor) {
			text := s.Bundle(t, of.Digest.String(), signaturetest.PredicateSign)
			signaturetest.Refer(r, of, bytes.Replace(text, []byte("{"), []byte(`{"dsseEnvelope":{},`), 1))
		}, signature.ReasonUntrusted, "it is no bundle of sigstore"},
		"a bundle without an envelope": {func(r repository, of ocispec.Descriptor) {
			signaturetest.Refer(r, of, []byte(`{"messageSignature":{"signature":"MA=="}}`))
		}, signature.ReasonUntrusted, "without the signature of a statement"},
		"a bundle of a hint with control characters": {func(r repository, of ocispec.Descriptor) {
			text := mallory.Bundle(t, of.Digest.String(), signaturetest.PredicateSign)
			signaturetest.Refer(r, of, bytes.Replace(text, []byte("h1nt"), []byte(`a\nb`), 1))
		}, signature.ReasonUntrusted, "another key, which it says is a b"},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRegistry(t)
			test.put(r, image(r, "v1", "a"))
			by, err := policy(t, s.Public).Image(t.Context(), resolve(t, r, ":v1"))
			if fault.ReasonOf(err) != test.reason || !strings.Contains(err.Error(), test.says) || by != "" {
				t.Errorf("%q, %s: %v", by, fault.ReasonOf(err), err)
			}
		})
	}
}

// The one signature that counts is found among others that do not, as many as are read.
func TestAmongMany(t *testing.T) {
	s, mallory, r := signaturetest.NewCosign(t), signaturetest.NewCosign(t), newRegistry(t)
	of := image(r, "v1", "a")
	for range 62 {
		signaturetest.Refer(r, of, mallory.Bundle(t, of.Digest.String(), signaturetest.PredicateSign))
	}
	signaturetest.Refer(r, of, s.Bundle(t, of.Digest.String(), signaturetest.PredicateSign))
	if _, err := policy(t, s.Public).Image(t.Context(), resolve(t, r, ":v1")); err != nil {
		t.Error(err)
	}
	begun := time.Now()
	_, err := policy(t, signaturetest.NewCosign(t).Public).Image(t.Context(), resolve(t, r, ":v1"))
	if fault.ReasonOf(err) != signature.ReasonUntrusted || len(fault.From(err).Problems) != 6 {
		t.Errorf("%v %q", err, fault.From(err).Problems)
	}
	t.Logf("64 signatures that do not count took %s", time.Since(begun))
}
