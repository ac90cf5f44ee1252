package signature_test

import (
	"bytes"

	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/ProtonMail/go-crypto/openpgp/armor"
	"github.com/ProtonMail/go-crypto/openpgp/clearsign"
	"github.com/ProtonMail/go-crypto/openpgp/packet"
	ocispec "github.com/opencontainers/image-spec/specs-go/v1"

	"github.com/berthdev/berth/internal/bundle/signature"
	"github.com/berthdev/berth/internal/bundle/signature/signaturetest"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/registry/pull"
	"github.com/berthdev/berth/internal/registrytest"
)

// What stands at the place of a signature and is none does not count, and is named for what it is.
func TestWhatIsNoSignature(t *testing.T) {
	s, mallory := signaturetest.NewCosign(t), signaturetest.NewCosign(t)
	at := func(r registrytest.Repository, of ocispec.Descriptor, layers ...ocispec.Descriptor) {
		r.Manifest(signaturetest.TagOf(of), ocispec.Manifest{Layers: layers})
	}
	payload := func(r registrytest.Repository, of ocispec.Descriptor, signed, certificate string) ocispec.Descriptor {
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
	type registry = registrytest.Repository
	for name, test := range map[string]struct {
		put          func(r registry, of ocispec.Descriptor)
		reason, says string
	}{
		"no annotation": {func(r registry, of ocispec.Descriptor) {
			at(r, of, payload(r, of, "", ""))
		}, signature.ReasonUntrusted, "a signature without a valid annotation"},
		"base64 that is none": {func(r registry, of ocispec.Descriptor) {
			at(r, of, payload(r, of, "!"+valid(of), ""))
		}, signature.ReasonUntrusted, "a signature without a valid annotation"},
		"bytes that are no signature": {func(r registry, of ocispec.Descriptor) {
			at(r, of, payload(r, of, "MA==", ""))
		}, signature.ReasonUntrusted, "it is signed with another key"},
		"a certificate that is no PEM": {func(r registry, of ocispec.Descriptor) {
			at(r, of, payload(r, of, "MA==", "-----BEGIN \x1b[31m"))
		}, signature.ReasonUntrusted, "it is signed with a certificate: keys count"},
		"a certificate that is none": {func(r registry, of ocispec.Descriptor) {
			at(r, of, payload(r, of, "MA==", "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"))
		}, signature.ReasonUntrusted, "it is signed with a certificate: keys count"},
		"an unknown media type": {func(r registry, of ocispec.Descriptor) {
			layer := payload(r, of, valid(of), "")
			layer.MediaType = "application/json"
			at(r, of, layer)
		}, signature.ReasonUnsigned, "no signature was found"},
		"an index at the tag": {func(r registry, of ocispec.Descriptor) {
			at(r, of, payload(r, of, valid(of), ""))
			r.Index(signaturetest.TagOf(of), r.Find(signaturetest.TagOf(of)))
		}, signature.ReasonUnsigned, "no signature was found"},
		"the payload of a text with a digest in it": {func(r registry, of ocispec.Descriptor) {
			s.Tag(t, r, of, fmt.Appendf(nil, "%q", signaturetest.Payload(of.Digest.String())))
		}, signature.ReasonOfOther, "is not the signature of an image"},
		"a payload without a digest": {func(r registry, of ocispec.Descriptor) {
			s.Tag(t, r, of, []byte(`{"critical":{"type":"cosign container image signature"}}`))
		}, signature.ReasonOfOther, "is of nothing"},
		"a deep payload": {func(r registry, of ocispec.Descriptor) {
			s.Tag(t, r, of, []byte(strings.Repeat(`{"critical":`, 50_000)))
		}, signature.ReasonOfOther, "is not the signature of an image"},
		"a bundle about another, of a manifest that refers to this one": {func(r registry, of ocispec.Descriptor) {
			signaturetest.Refer(r, of, s.Bundle(t, "sha256:"+strings.Repeat("0", 64), signaturetest.PredicateSign))
		}, signature.ReasonOfOther, "is of sha256:000000000000"},
		"a bundle whose statement was changed": {func(r registry, of ocispec.Descriptor) {
			signaturetest.Refer(r, of, envelope(of, func(e map[string]any) {
				text, _ := base64.StdEncoding.DecodeString(e["payload"].(string))
				e["payload"] = bytes.Replace(text, []byte("predicate"), []byte("Predicate"), 1)
			}))
		}, signature.ReasonUntrusted, "it is signed with another key"},
		"a bundle of another type": {func(r registry, of ocispec.Descriptor) {
			signaturetest.Refer(r, of, envelope(of, func(e map[string]any) { e["payloadType"] = "text/plain" }))
		}, signature.ReasonUntrusted, "without the signature of a statement"},
		"a bundle with thousands of signatures": {func(r registry, of ocispec.Descriptor) {
			signaturetest.Refer(r, of, envelope(of, func(e map[string]any) {
				e["signatures"] = strings.Split(strings.Repeat("{}", 5000), "")
			}))
		}, signature.ReasonUntrusted, "it is no bundle of sigstore"},
		"a bundle with many signatures": {func(r registry, of ocispec.Descriptor) {
			signaturetest.Refer(r, of, envelope(of, func(e map[string]any) {
				first := e["signatures"].([]any)[0]
				e["signatures"] = append(make([]any, 16), first)
			}))
		}, signature.ReasonUntrusted, "without the signature of a statement"},
		"a bundle without an envelope": {func(r registry, of ocispec.Descriptor) {
			signaturetest.Refer(r, of, []byte(`{"messageSignature":{"signature":"MA=="}}`))
		}, signature.ReasonUntrusted, "without the signature of a statement"},
		"a bundle of a hint with control characters": {func(r registry, of ocispec.Descriptor) {
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

// signers makes one signed text of what several maintainers have signed alone.
func signers(t *testing.T, text string, all ...signaturetest.Maintainer) []byte {
	t.Helper()
	var packets bytes.Buffer
	for _, m := range all {
		block, _ := clearsign.Decode(m.SignText(t, text))
		if _, err := io.Copy(&packets, block.ArmoredSignature.Body); err != nil {
			t.Fatal(err)
		}
	}
	return resigned(t, all[0].SignText(t, text), packets.Bytes())
}

// resigned is a signed text with another signature.
func resigned(t *testing.T, text, packets []byte) []byte {
	t.Helper()
	const begin = "-----BEGIN PGP SIGNATURE-----"
	head, _, _ := bytes.Cut(text, []byte(begin))
	out := bytes.NewBuffer(head)
	w, err := armor.Encode(out, "PGP SIGNATURE", nil)
	if err == nil {
		_, err = w.Write(packets)
	}
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// Of a provenance, a signature of the keyring counts that is valid now, whatever stands beside it.
func TestHostileProvenance(t *testing.T) {
	past := &packet.Config{
		Time: func() time.Time { return time.Now().AddDate(-2, 0, 0) }, KeyLifetimeSecs: 24 * 60 * 60,
	}
	brief := &packet.Config{
		Time: func() time.Time { return time.Now().AddDate(-2, 0, 0) }, SigLifetimeSecs: 24 * 60 * 60,
	}
	future := &packet.Config{Time: func() time.Time { return time.Now().AddDate(2, 0, 0) }}
	alice, mallory := signaturetest.NewMaintainer(t, "alice", nil), signaturetest.NewMaintainer(t, "mallory", nil)
	expired, late := signaturetest.NewMaintainer(t, "bob", past), signaturetest.NewMaintainer(t, "carol", brief)
	early := signaturetest.NewMaintainer(t, "dave", future)
	archive := chart(t, "1.2.3")
	const file = "app-1.2.3.tgz"
	text := "name: app\n\n...\nfiles:\n  " + file + ": " + sumOf(archive) + "\n"
	for name, test := range map[string]struct {
		ring         signaturetest.Maintainer
		text         []byte
		reason, says string
	}{
		"by another as well": {ring: alice, text: signers(t, text, alice, mallory)},
		"by another before":  {ring: alice, text: signers(t, text, mallory, alice)},
		"by others alone":    {alice, signers(t, text, mallory, late), signature.ReasonUntrusted, "not in the keyring"},
		"with a key that is expired": {
			expired, expired.SignText(t, text), signature.ReasonUntrusted, "has expired",
		},
		"with a signature that is expired": {
			late, late.SignText(t, text), signature.ReasonUntrusted, "the signature of its provenance has expired",
		},
		"with a key of the future": {early, early.SignText(t, text), signature.ReasonUntrusted, "expired"},
		"without a signature": {
			alice, resigned(t, alice.SignText(t, text), nil), signature.ReasonUntrusted, "not in the keyring",
		},
		"with what is no signature": {
			alice, resigned(t, alice.SignText(t, text), []byte("\xff\xff\xff")), signature.ReasonOfOther, "is not of this text",
		},
		"with a key as the signature": {
			alice, resigned(t, alice.SignText(t, text), ringOf(t, alice)), signature.ReasonOfOther, "non signature packet",
		},
		"with text that is not as it was": {
			alice, bytes.Replace(alice.SignText(t, text), []byte("name: app"), []byte("name: apq"), 1),
			signature.ReasonOfOther, "is not of this text",
		},
		"of a digest that is none": {
			alice, alice.SignText(t, "\n...\nfiles: {"+file+": [1]}\n"), signature.ReasonOfOther, "a digest for each file",
		},
		"of too many files": {
			alice, alice.SignText(t, "name: app\n\n...\nfiles:\n"+manyFiles(101)), signature.ReasonOfOther, "it has 101 files",
		},
		"of a file twice": {
			alice, alice.SignText(t, text+"  "+file+": "+sumOf(nil)+"\n"), signature.ReasonOfOther, "a digest for each file",
		},
		"of the name of another chart": {
			alice, alice.SignText(t, strings.ReplaceAll(text, file, "../"+file)), signature.ReasonOfOther, "not of " + file,
		},
	} {
		t.Run(name, func(t *testing.T) {
			a, err := ringPolicy(t, test.ring.Ring).Archive("the archive x", file, test.text)
			if err == nil {
				err = a.Read(bytes.NewReader(archive), func(io.Reader) error { return nil })
			}
			if test.reason == "" && err == nil {
				return
			}
			if fault.ReasonOf(err) != test.reason || !strings.Contains(err.Error(), test.says) {
				t.Errorf("%s: %v", fault.ReasonOf(err), err)
			}
		})
	}
}

func manyFiles(n int) (text string) {
	for i := range n {
		text += fmt.Sprintf("  f%d: x\n", i)
	}
	return text
}

// ringOf are the bytes of a public key.
func ringOf(t *testing.T, m signaturetest.Maintainer) []byte {
	t.Helper()
	text, err := os.ReadFile(m.Ring)
	if err != nil {
		t.Fatal(err)
	}
	return text
}
