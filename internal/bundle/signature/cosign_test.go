package signature_test

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	ocispec "github.com/opencontainers/image-spec/specs-go/v1"

	"github.com/berthdev/berth/internal/bundle/signature"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/registry/pull"
)

// signer stands for cosign with a key: it signs what the specification of cosign's signatures says, with the standard
// library alone. TestRecordedByCosign has what cosign itself has made.
type signer struct {
	key crypto.Signer
	pub string // the file of the public key
}

func newSigner(t testing.TB, key crypto.Signer, err error) signer {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	der, err := x509.MarshalPKIXPublicKey(key.Public())
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "cosign.pub")
	text := pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der})
	if err := os.WriteFile(file, text, 0o600); err != nil {
		t.Fatal(err)
	}
	return signer{key: key, pub: file}
}

func ecdsaSigner(t testing.TB) signer {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	return newSigner(t, key, err)
}

func (s signer) sign(t testing.TB, text []byte) []byte {
	t.Helper()
	sum, hash := sha256.Sum256(text), crypto.SHA256
	data := sum[:]
	if _, ok := s.key.(ed25519.PrivateKey); ok {
		data, hash = text, 0
	}
	signed, err := s.key.Sign(rand.Reader, data, hash)
	if err != nil {
		t.Fatal(err)
	}
	return signed
}

// payload is what is signed of an image.
func payload(digest string) []byte {
	return fmt.Appendf(nil, `{"critical":{"identity":{"docker-reference":"x"},"image":{"docker-manifest-digest":%q},`+
		`"type":"cosign container image signature"},"optional":null}`, digest)
}

// tag puts a signature of a text at the tag of an image.
func (s signer) tag(t testing.TB, r *registry, of ocispec.Descriptor, text []byte) {
	t.Helper()
	layer := r.blob(pull.TypePayload, text)
	layer.Annotations = map[string]string{
		"dev.cosignproject.cosign/signature": base64.StdEncoding.EncodeToString(s.sign(t, text)),
	}
	r.manifest("sha256-"+of.Digest.Encoded()+".sig", ocispec.Manifest{Layers: []ocispec.Descriptor{layer}})
}

// bundle is a bundle of sigstore with a statement about a digest.
func (s signer) bundle(t testing.TB, digest, predicate string) []byte {
	t.Helper()
	const payloadType = "application/vnd.in-toto+json"
	text := fmt.Appendf(nil, `{"_type":"https://in-toto.io/Statement/v1","subject":[{"digest":{"sha256":%q}}],`+
		`"predicateType":%q,"predicate":{}}`, strings.TrimPrefix(digest, "sha256:"), predicate)
	signed := append([]byte("DSSEv1 "+strconv.Itoa(len(payloadType))+" "+payloadType+" "+strconv.Itoa(len(text))+" "),
		text...)
	out, err := json.Marshal(map[string]any{
		"mediaType":            pull.TypeBundle,
		"verificationMaterial": map[string]any{"publicKey": map[string]any{"hint": "h1nt"}},
		"dsseEnvelope": map[string]any{
			"payload": text, "payloadType": payloadType,
			"signatures": []any{map[string]any{"sig": s.sign(t, signed)}},
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// refer puts a bundle into the registry that refers to an image.
func refer(r *registry, of ocispec.Descriptor, text []byte) {
	d := r.manifest("none", ocispec.Manifest{
		ArtifactType: pull.TypeBundle, Subject: &of,
		Config: r.blob("application/vnd.oci.empty.v1+json", []byte("{}")),
		Layers: []ocispec.Descriptor{r.blob(pull.TypeBundle, text)},
	})
	if r.noReferrers {
		d.ArtifactType = pull.TypeBundle
		index := ocispec.Index{MediaType: ocispec.MediaTypeImageIndex, Manifests: []ocispec.Descriptor{d}}
		index.SchemaVersion = 2
		list, _ := json.Marshal(index)
		r.put(app, "sha256-"+of.Digest.Encoded(), ocispec.MediaTypeImageIndex, list)
	}
}

func policy(t testing.TB, keys ...string) *signature.Policy {
	t.Helper()
	p, err := signature.New(signature.Keys{Public: keys}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

const signPredicate = "https://sigstore.dev/cosign/sign/v1"

// An image counts as signed if one of the keys has signed its very digest, and a refusal says what there is instead.
func TestImage(t *testing.T) {
	s, other := ecdsaSigner(t), ecdsaSigner(t)
	for name, test := range map[string]struct {
		sign         func(t *testing.T, r *registry, image, another ocispec.Descriptor)
		old          bool // a registry without the API of referrers
		reason, says string
	}{
		"at the tag": {sign: func(t *testing.T, r *registry, image, _ ocispec.Descriptor) {
			s.tag(t, r, image, payload(image.Digest.String()))
		}},
		"a bundle that refers to it": {sign: func(t *testing.T, r *registry, image, _ ocispec.Descriptor) {
			refer(r, image, s.bundle(t, image.Digest.String(), signPredicate))
		}},
		"a bundle in the index of an older registry": {old: true, sign: func(t *testing.T, r *registry, image,
			_ ocispec.Descriptor,
		) {
			refer(r, image, s.bundle(t, image.Digest.String(), signPredicate))
		}},
		"by another at the tag, and in a bundle by the right one": {sign: func(t *testing.T, r *registry, image,
			_ ocispec.Descriptor,
		) {
			other.tag(t, r, image, payload(image.Digest.String()))
			refer(r, image, s.bundle(t, image.Digest.String(), signPredicate))
		}},
		"not at all": {
			sign:   func(*testing.T, *registry, ocispec.Descriptor, ocispec.Descriptor) {},
			reason: signature.ReasonUnsigned, says: "no signature was found",
		},
		"by another": {sign: func(t *testing.T, r *registry, image, _ ocispec.Descriptor) {
			other.tag(t, r, image, payload(image.Digest.String()))
		}, reason: signature.ReasonUntrusted, says: "it is signed with another key"},
		"a bundle by another": {sign: func(t *testing.T, r *registry, image, _ ocispec.Descriptor) {
			refer(r, image, other.bundle(t, image.Digest.String(), signPredicate))
		}, reason: signature.ReasonUntrusted, says: "another key, which it says is h1nt"},
		"the signature of another image": {sign: func(t *testing.T, r *registry, image, another ocispec.Descriptor) {
			s.tag(t, r, image, payload(another.Digest.String()))
		}, reason: signature.ReasonOfOther, says: "is of sha256:"},
		"the bundle of another image": {sign: func(t *testing.T, r *registry, image, another ocispec.Descriptor) {
			refer(r, image, s.bundle(t, another.Digest.String(), signPredicate))
		}, reason: signature.ReasonOfOther, says: "is of sha256:"},
		"an attestation alone": {sign: func(t *testing.T, r *registry, image, _ ocispec.Descriptor) {
			refer(r, image, s.bundle(t, image.Digest.String(), "https://slsa.dev/provenance/v1"))
		}, reason: signature.ReasonUnsigned, says: "no signature was found"},
		"a text of another kind": {sign: func(t *testing.T, r *registry, image, _ ocispec.Descriptor) {
			s.tag(t, r, image, fmt.Appendf(nil, `{"critical":{"image":{"docker-manifest-digest":%q}}}`, image.Digest))
		}, reason: signature.ReasonOfOther, says: "is not the signature of an image"},
		"what is no bundle": {sign: func(_ *testing.T, r *registry, image, _ ocispec.Descriptor) {
			refer(r, image, []byte("{"))
		}, reason: signature.ReasonUntrusted, says: "it is no bundle of sigstore"},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRegistry(t)
			r.noReferrers = test.old
			image, another := r.image("v1", "a"), r.image("v2", "b")
			test.sign(t, r, image, another)
			by, err := policy(t, s.pub).Image(t.Context(), r.resolve(t, ":v1"))
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
	for name, s := range map[string]signer{
		"ECDSA": ecdsaSigner(t), "ECDSA of 384 bits": newSigner(t, p384, p384Err), "RSA": newSigner(t, rsaKey, rsaErr),
		"Ed25519": newSigner(t, edKey, edErr),
	} {
		t.Run(name, func(t *testing.T) {
			r := newRegistry(t)
			image := r.image("v1", "a")
			s.tag(t, r, image, payload(image.Digest.String()))
			if by, err := policy(t, ecdsaSigner(t).pub, s.pub).Image(t.Context(), r.resolve(t, ":v1")); err != nil {
				t.Errorf("%q %v", by, err)
			}
			if _, err := policy(t, ecdsaSigner(t).pub).Image(t.Context(), r.resolve(t, ":v1")); err == nil {
				t.Error("another key counts")
			}
		})
	}
}

// What a registry has of signatures is bounded, whatever it says.
func TestHostileSignatures(t *testing.T) {
	s := ecdsaSigner(t)
	many := func(n int, layer ocispec.Descriptor) (layers []ocispec.Descriptor) {
		for range n {
			layers = append(layers, layer)
		}
		return layers
	}
	for name, test := range map[string]struct {
		make func(r *registry, image ocispec.Descriptor)
		says string
	}{
		"thousands of layers": {func(r *registry, image ocispec.Descriptor) {
			r.manifest("sha256-"+image.Digest.Encoded()+".sig", ocispec.Manifest{
				Layers: many(5000, r.blob(pull.TypePayload, payload("x"))),
			})
		}, "more than it has 64 signatures"},
		"a large one": {func(r *registry, image ocispec.Descriptor) {
			layer := r.blob(pull.TypePayload, payload("x"))
			layer.Size = 1 << 40
			r.manifest("sha256-"+image.Digest.Encoded()+".sig", ocispec.Manifest{Layers: many(1, layer)})
		}, "a signature of it has 1024 KiB"},
		"a large manifest": {func(r *registry, image ocispec.Descriptor) {
			r.put(app, "sha256-"+image.Digest.Encoded()+".sig", ocispec.MediaTypeImageManifest,
				[]byte(`{"x":"`+strings.Repeat("x", 5<<20)+`"}`))
		}, "has a manifest of more than 4096 KiB"},
		"a layer that is another": {func(r *registry, image ocispec.Descriptor) {
			layer := r.blob(pull.TypePayload, payload("x"))
			r.at[app+"/blobs/"+layer.Digest.String()] = payload("y")
			r.manifest("sha256-"+image.Digest.Encoded()+".sig", ocispec.Manifest{Layers: many(1, layer)})
		}, "sends something else than it was asked"},
		"a thousand referrers": {func(r *registry, image ocispec.Descriptor) {
			for i := range 100 {
				refer(r, image, fmt.Append(nil, i))
			}
		}, "64 signatures refer to it"},
		"what is no manifest": {func(r *registry, image ocispec.Descriptor) {
			r.put(app, "sha256-"+image.Digest.Encoded()+".sig", ocispec.MediaTypeImageManifest, []byte("["))
		}, "no signature was found"},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRegistry(t)
			image := r.image("v1", "a")
			test.make(r, image)
			_, err := policy(t, s.pub).Image(t.Context(), r.resolve(t, ":v1"))
			if err == nil || !strings.Contains(err.Error(), test.says) {
				t.Errorf("%v", err)
			}
		})
	}
}

// A key that cannot be used is refused before anything is fetched.
func TestKeys(t *testing.T) {
	small, err := rsa.GenerateKey(rand.Reader, 1024) //nolint:gosec // it is refused
	weak := newSigner(t, small, err)
	private := pem.EncodeToMemory(&pem.Block{Type: "ENCRYPTED SIGSTORE PRIVATE KEY", Bytes: []byte("x")})
	for name, test := range map[string]struct{ key, says string }{
		"none":          {"", "no keys are given"},
		"no file":       {"/none/cosign.pub", "cannot be read"},
		"not a key":     {"-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----\n", "is not valid"},
		"not PEM":       {"-----BEGIN x", "is not a public key in PEM"},
		"a private key": {string(private), "has a ENCRYPTED SIGSTORE PRIVATE KEY, not a PUBLIC KEY"},
		"a weak one":    {weak.pub, "an RSA key of 1024 bits"},
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
