// Package signaturetest signs, for the tests of what signatures decide.
package signaturetest

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
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

	"github.com/berthdev/berth/internal/registry/pull"
	"github.com/berthdev/berth/internal/registrytest"
)

// Cosign stands for cosign with a key: it signs what the specification of cosign's signatures says, with the standard
// library alone. What cosign itself has made is in the recordings of package signature.
type Cosign struct {
	key crypto.Signer
	// Public is the file of the public key.
	Public string
}

// NewCosign has a key as `cosign generate-key-pair` makes it.
func NewCosign(t testing.TB) Cosign {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	return CosignWith(t, key, err)
}

// CosignWith has a key that was made, unless that failed.
func CosignWith(t testing.TB, key crypto.Signer, err error) Cosign {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	der, err := x509.MarshalPKIXPublicKey(key.Public())
	if err != nil {
		t.Fatal(err)
	}
	return Cosign{key, written(t, "cosign.pub", pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der}))}
}

// written is a file with this text.
func written(t testing.TB, name string, text []byte) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(file, text, 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// Sign is the signature of a text.
func (c Cosign) Sign(t testing.TB, text []byte) []byte {
	t.Helper()
	sum, hash := sha256.Sum256(text), crypto.SHA256
	data := sum[:]
	if _, ok := c.key.(ed25519.PrivateKey); ok {
		data, hash = text, 0
	}
	signed, err := c.key.Sign(rand.Reader, data, hash)
	if err != nil {
		t.Fatal(err)
	}
	return signed
}

// Payload is what is signed of an image.
func Payload(digest string) []byte {
	return fmt.Appendf(nil, `{"critical":{"identity":{"docker-reference":"x"},"image":{"docker-manifest-digest":%q},`+
		`"type":"cosign container image signature"},"optional":null}`, digest)
}

// SignImage signs an image as cosign has done since its beginning.
func (c Cosign) SignImage(t testing.TB, r registrytest.Repository, of ocispec.Descriptor) {
	t.Helper()
	c.Tag(t, r, of, Payload(of.Digest.String()))
}

// Tag puts the signature of a text at the tag of an image.
func (c Cosign) Tag(t testing.TB, r registrytest.Repository, of ocispec.Descriptor, text []byte) {
	t.Helper()
	layer := r.Blob(pull.TypePayload, text)
	layer.Annotations = map[string]string{
		"dev.cosignproject.cosign/signature": base64.StdEncoding.EncodeToString(c.Sign(t, text)),
	}
	r.Manifest(TagOf(of), ocispec.Manifest{Layers: []ocispec.Descriptor{layer}})
}

// TagOf is the tag of the signatures of an image.
func TagOf(of ocispec.Descriptor) string { return "sha256-" + of.Digest.Encoded() + ".sig" }

// PredicateSign is the predicate of a statement that an image was signed.
const PredicateSign = "https://sigstore.dev/cosign/sign/v1"

// Bundle is a bundle of sigstore with a statement about a digest.
func (c Cosign) Bundle(t testing.TB, digest, predicate string) []byte {
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
			"signatures": []any{map[string]any{"sig": c.Sign(t, signed)}},
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// Refer puts a bundle into a registry that refers to an image.
func Refer(r registrytest.Repository, of ocispec.Descriptor, text []byte) {
	d := r.Manifest("none", ocispec.Manifest{
		ArtifactType: pull.TypeBundle, Subject: &of,
		Config: r.Blob("application/vnd.oci.empty.v1+json", []byte("{}")),
		Layers: []ocispec.Descriptor{r.Blob(pull.TypeBundle, text)},
	})
	if r.NoReferrers {
		d.ArtifactType = pull.TypeBundle
		r.Index("sha256-"+of.Digest.Encoded(), d)
	}
}
