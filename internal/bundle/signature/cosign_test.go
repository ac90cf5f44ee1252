package signature_test

import (
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"encoding/pem"
	"fmt"
	"strings"
	"testing"
	"time"

	ocispec "github.com/opencontainers/image-spec/specs-go/v1"

	"github.com/berthdev/berth/internal/bundle/signature"
	"github.com/berthdev/berth/internal/bundle/signature/signaturetest"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/registry/pull"
	"github.com/berthdev/berth/internal/registrytest"
)

type repository = registrytest.Repository

// newRegistry is a registry with the repository org/app.
func newRegistry(t testing.TB) repository {
	t.Helper()
	return registrytest.Start(t).Repository("org/app")
}

// image keeps an image, which differs by what is in it.
func image(r repository, tag, content string) ocispec.Descriptor {
	return r.Image(tag, ocispec.MediaTypeImageLayer, []byte(content))
}

// resolve finds an image.
func resolve(t testing.TB, r repository, suffix string) *pull.Image {
	t.Helper()
	image, err := pull.Puller{
		Platform: "linux/amd64", Silence: time.Minute,
		Limits: pull.Limits{Transfer: 1 << 20, Unpacked: 1 << 20, Entries: 100},
	}.Resolve(t.Context(), r.Ref(suffix))
	if err != nil {
		t.Fatal(err)
	}
	return image
}

func policy(t testing.TB, keys ...string) *signature.Policy {
	t.Helper()
	p, err := signature.New(signature.Keys{Public: keys}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// An image counts as signed if one of the keys has signed its very digest, and a refusal says what there is instead.
func TestImage(t *testing.T) {
	s, other := signaturetest.NewCosign(t), signaturetest.NewCosign(t)
	for name, test := range map[string]struct {
		sign         func(t *testing.T, r repository, image, another ocispec.Descriptor)
		old          bool // a registry without the API of referrers
		reason, says string
	}{
		"at the tag": {sign: func(t *testing.T, r repository, image, _ ocispec.Descriptor) {
			s.Tag(t, r, image, signaturetest.Payload(image.Digest.String()))
		}},
		"a bundle that refers to it": {sign: func(t *testing.T, r repository, image, _ ocispec.Descriptor) {
			signaturetest.Refer(r, image, s.Bundle(t, image.Digest.String(), signaturetest.PredicateSign))
		}},
		"a bundle in the index of an older registry": {old: true, sign: func(t *testing.T, r repository, image,
			_ ocispec.Descriptor,
		) {
			signaturetest.Refer(r, image, s.Bundle(t, image.Digest.String(), signaturetest.PredicateSign))
		}},
		"by another at the tag, and in a bundle by the right one": {sign: func(t *testing.T, r repository, image,
			_ ocispec.Descriptor,
		) {
			other.Tag(t, r, image, signaturetest.Payload(image.Digest.String()))
			signaturetest.Refer(r, image, s.Bundle(t, image.Digest.String(), signaturetest.PredicateSign))
		}},
		"not at all": {
			sign:   func(*testing.T, repository, ocispec.Descriptor, ocispec.Descriptor) {},
			reason: signature.ReasonUnsigned, says: "no signature was found",
		},
		"by another": {sign: func(t *testing.T, r repository, image, _ ocispec.Descriptor) {
			other.Tag(t, r, image, signaturetest.Payload(image.Digest.String()))
		}, reason: signature.ReasonUntrusted, says: "it is signed with another key"},
		"a bundle by another": {sign: func(t *testing.T, r repository, image, _ ocispec.Descriptor) {
			signaturetest.Refer(r, image, other.Bundle(t, image.Digest.String(), signaturetest.PredicateSign))
		}, reason: signature.ReasonUntrusted, says: "another key, which it says is h1nt"},
		"the signature of another image": {sign: func(t *testing.T, r repository, image, another ocispec.Descriptor) {
			s.Tag(t, r, image, signaturetest.Payload(another.Digest.String()))
		}, reason: signature.ReasonOfOther, says: "is of sha256:"},
		"the bundle of another image": {sign: func(t *testing.T, r repository, image, another ocispec.Descriptor) {
			signaturetest.Refer(r, image, s.Bundle(t, another.Digest.String(), signaturetest.PredicateSign))
		}, reason: signature.ReasonOfOther, says: "is of sha256:"},
		"an attestation alone": {sign: func(t *testing.T, r repository, image, _ ocispec.Descriptor) {
			signaturetest.Refer(r, image, s.Bundle(t, image.Digest.String(), "https://slsa.dev/provenance/v1"))
		}, reason: signature.ReasonUnsigned, says: "no signature was found"},
		"a text of another kind": {sign: func(t *testing.T, r repository, image, _ ocispec.Descriptor) {
			s.Tag(t, r, image, fmt.Appendf(nil, `{"critical":{"image":{"docker-manifest-digest":%q}}}`, image.Digest))
		}, reason: signature.ReasonOfOther, says: "is not the signature of an image"},
		"what is no bundle": {sign: func(_ *testing.T, r repository, image, _ ocispec.Descriptor) {
			signaturetest.Refer(r, image, []byte("{"))
		}, reason: signature.ReasonUntrusted, says: "it is no bundle of sigstore"},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRegistry(t)
			r.NoReferrers = test.old
			image, another := image(r, "v1", "a"), image(r, "v2", "b")
			test.sign(t, r, image, another)
			by, err := policy(t, s.Public).Image(t.Context(), resolve(t, r, ":v1"))
			if test.reason == "" {
				if err != nil || !strings.HasPrefix(by, "key sha256:") {
					t.Errorf("%q %v", by, err)
				}
				return
			}
			if fault.ReasonOf(err) != test.reason || !strings.Contains(err.Error(), test.says) || by != "" {
				t.Errorf("%s: %v", fault.ReasonOf(err), err)
			}
		})
	}
}

// Each kind of key that cosign has is one.
func TestKinds(t *testing.T) {
	rsaKey, rsaErr := rsa.GenerateKey(rand.Reader, 2048)
	_, edKey, edErr := ed25519.GenerateKey(rand.Reader)
	p384, p384Err := ecdsa.GenerateKey(elliptic.P384(), rand.Reader)
	for name, s := range map[string]signaturetest.Cosign{
		"ECDSA": signaturetest.NewCosign(t), "ECDSA of 384 bits": signaturetest.CosignWith(t, p384, p384Err),
		"RSA":     signaturetest.CosignWith(t, rsaKey, rsaErr),
		"Ed25519": signaturetest.CosignWith(t, edKey, edErr),
	} {
		t.Run(name, func(t *testing.T) {
			r := newRegistry(t)
			image := image(r, "v1", "a")
			s.Tag(t, r, image, signaturetest.Payload(image.Digest.String()))
			other := signaturetest.NewCosign(t).Public
			if by, err := policy(t, other, s.Public).Image(t.Context(), resolve(t, r, ":v1")); err != nil {
				t.Errorf("%q %v", by, err)
			}
			if _, err := policy(t, other).Image(t.Context(), resolve(t, r, ":v1")); err == nil {
				t.Error("another key counts")
			}
		})
	}
}

// What a registry has of signatures is bounded, whatever it says.
func TestHostileSignatures(t *testing.T) {
	s := signaturetest.NewCosign(t)
	many := func(n int, layer ocispec.Descriptor) (layers []ocispec.Descriptor) {
		for range n {
			layers = append(layers, layer)
		}
		return layers
	}
	for name, test := range map[string]struct {
		make func(r repository, image ocispec.Descriptor)
		says string
	}{
		"thousands of layers": {func(r repository, image ocispec.Descriptor) {
			r.Manifest(signaturetest.TagOf(image), ocispec.Manifest{
				Layers: many(5000, r.Blob(pull.TypePayload, signaturetest.Payload("x"))),
			})
		}, "more than it has 64 signatures"},
		"a large one": {func(r repository, image ocispec.Descriptor) {
			layer := r.Blob(pull.TypePayload, signaturetest.Payload("x"))
			layer.Size = 1 << 40
			r.Manifest(signaturetest.TagOf(image), ocispec.Manifest{Layers: many(1, layer)})
		}, "a signature of it has 1024 KiB"},
		"a large manifest": {func(r repository, image ocispec.Descriptor) {
			r.Put(signaturetest.TagOf(image), ocispec.MediaTypeImageManifest,
				[]byte(`{"x":"`+strings.Repeat("x", 5<<20)+`"}`))
		}, "has a manifest of more than 4096 KiB"},
		"a layer that is another": {func(r repository, image ocispec.Descriptor) {
			layer := r.Blob(pull.TypePayload, signaturetest.Payload("x"))
			r.Replace(layer.Digest, signaturetest.Payload("y"))
			r.Manifest(signaturetest.TagOf(image), ocispec.Manifest{Layers: many(1, layer)})
		}, "sends something else than it was asked"},
		"a thousand referrers": {func(r repository, image ocispec.Descriptor) {
			for i := range 100 {
				signaturetest.Refer(r, image, fmt.Append(nil, i))
			}
		}, "64 signatures refer to it"},
		"what is no manifest": {func(r repository, image ocispec.Descriptor) {
			r.Put(signaturetest.TagOf(image), ocispec.MediaTypeImageManifest, []byte("["))
		}, "no signature was found"},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRegistry(t)
			image := image(r, "v1", "a")
			test.make(r, image)
			_, err := policy(t, s.Public).Image(t.Context(), resolve(t, r, ":v1"))
			if err == nil || !strings.Contains(err.Error(), test.says) {
				t.Errorf("%v", err)
			}
		})
	}
}

// A key that cannot be used is refused before anything is fetched.
func TestKeys(t *testing.T) {
	small, err := rsa.GenerateKey(rand.Reader, 1024) //nolint:gosec // it is refused
	weak := signaturetest.CosignWith(t, small, err)
	private := pem.EncodeToMemory(&pem.Block{Type: "ENCRYPTED SIGSTORE PRIVATE KEY", Bytes: []byte("x")})
	for name, test := range map[string]struct{ key, says string }{
		"none":          {"", "no keys are given"},
		"no file":       {"/none/cosign.pub", "cannot be read"},
		"not a key":     {"-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----\n", "is not valid"},
		"not PEM":       {"-----BEGIN x", "is not a public key in PEM"},
		"a private key": {string(private), "has a ENCRYPTED SIGSTORE PRIVATE KEY, not a PUBLIC KEY"},
		"a weak one":    {weak.Public, "an RSA key of 1024 bits"},
	} {
		var from signature.Keys
		if test.key != "" {
			from.Public = []string{test.key}
		}
		if _, err := signature.New(from, nil); fault.CodeOf(err) != fault.InvalidArgument ||
			!strings.Contains(err.Error(), test.says) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
