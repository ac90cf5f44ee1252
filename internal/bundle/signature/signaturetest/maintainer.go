package signaturetest

import (
	"bytes"
	"fmt"
	"io"
	"testing"

	"github.com/ProtonMail/go-crypto/openpgp"
	"github.com/ProtonMail/go-crypto/openpgp/clearsign"
	"github.com/ProtonMail/go-crypto/openpgp/packet"
	"helm.sh/helm/v3/pkg/provenance"
)

// Maintainer signs charts with helm.
type Maintainer struct {
	// Ring is the file of the public key, and ID its fingerprint.
	Ring, ID string

	entity *openpgp.Entity
	config *packet.Config
}

// NewMaintainer has a key of its own. A configuration says when it was made, and when it signs; it may be nil.
func NewMaintainer(t testing.TB, name string, config *packet.Config) Maintainer {
	t.Helper()
	entity, err := openpgp.NewEntity(name, "", name+"@example.com", config)
	if err != nil {
		t.Fatal(err)
	}
	var ring bytes.Buffer
	if err := entity.Serialize(&ring); err != nil {
		t.Fatal(err)
	}
	return Maintainer{
		Ring: written(t, "pubring.gpg", ring.Bytes()), ID: fmt.Sprintf("%X", entity.PrimaryKey.Fingerprint),
		entity: entity, config: config,
	}
}

// Secret is a keyring with the private key, which `helm package --sign --keyring` takes.
func (m Maintainer) Secret(t testing.TB) (file string) {
	t.Helper()
	var ring bytes.Buffer
	if err := m.entity.SerializePrivate(&ring, nil); err != nil {
		t.Fatal(err)
	}
	return written(t, "secring.gpg", ring.Bytes())
}

// Sign is what helm itself writes beside an archive with this file name.
func (m Maintainer) Sign(t testing.TB, file string, archive []byte) []byte {
	t.Helper()
	text, err := (&provenance.Signatory{Entity: m.entity}).ClearSign(written(t, file, archive))
	if err != nil {
		t.Fatal(err)
	}
	return []byte(text)
}

// SignText signs any text.
func (m Maintainer) SignText(t testing.TB, text string) []byte {
	t.Helper()
	var out bytes.Buffer
	w, err := clearsign.Encode(&out, m.entity.PrivateKey, m.config)
	if err == nil {
		_, err = io.WriteString(w, text)
	}
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}
