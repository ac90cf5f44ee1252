package signature_test

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/ProtonMail/go-crypto/openpgp/armor"
	"github.com/ProtonMail/go-crypto/openpgp/clearsign"
	"github.com/ProtonMail/go-crypto/openpgp/packet"
	"github.com/opencontainers/go-digest"
	ocispec "github.com/opencontainers/image-spec/specs-go/v1"

	"github.com/berthdev/berth/internal/bundle/signature"
	"github.com/berthdev/berth/internal/bundle/signature/signaturetest"
	"github.com/berthdev/berth/internal/fault"
)

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
			alice, resigned(t, alice.SignText(t, text), []byte("\xff\xff\xff")), signature.ReasonOfOther,
			"is not of this text",
		},
		"with a key as the signature": {
			alice, resigned(t, alice.SignText(t, text), ringOf(t, alice)), signature.ReasonOfOther,
			"non signature packet",
		},
		"with text that is not as it was": {
			alice, bytes.Replace(alice.SignText(t, text), []byte("name: app"), []byte("name: apq"), 1),
			signature.ReasonOfOther, "is not of this text",
		},
		"of an invalid digest": {
			alice, alice.SignText(t, "\n...\nfiles: {"+file+": [1]}\n"), signature.ReasonOfOther,
			"a digest for each file",
		},
		"of too many files": {
			alice, alice.SignText(t, "name: app\n\n...\nfiles:\n"+manyFiles(101)), signature.ReasonOfOther,
			"it has 101 files",
		},
		"of a file twice": {
			alice, alice.SignText(t, text+"  "+file+": "+sumOf(nil)+"\n"), signature.ReasonOfOther,
			"a digest for each file",
		},
		"of the name of another chart": {
			alice, alice.SignText(t, strings.ReplaceAll(text, file, "../"+file)), signature.ReasonOfOther,
			"not of " + file,
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

// What a chart in a registry says of itself decides of which file its provenance has to be, within bounds.
func TestHostileCharts(t *testing.T) {
	alice := signaturetest.NewMaintainer(t, "alice", nil)
	archive := chart(t, "1.2.3")
	prov := string(alice.Sign(t, "app-1.2.3.tgz", archive))
	const own = `{"name":"app","version":"1.2.3"}`
	none := func(ocispec.Descriptor) ocispec.Descriptor {
		return ocispec.Descriptor{Digest: digest.FromString("gone"), Size: 4}
	}
	huge := func(d ocispec.Descriptor) ocispec.Descriptor {
		d.Size = 1 << 40
		return d
	}
	for name, test := range map[string]struct {
		config, prov     string
		ofConfig, ofProv func(ocispec.Descriptor) ocispec.Descriptor
		replaced, says   string
	}{
		"as it should be":  {config: own, prov: prov},
		"no JSON":          {config: "{", prov: prov, says: "no name and version"},
		"deep JSON":        {config: strings.Repeat("[", 100_000), prov: prov, says: "no name and version"},
		"no name":          {config: `{"version":"1.2.3"}`, prov: prov, says: "no name and version"},
		"a path as a name": {config: `{"name":"../app","version":"1"}`, prov: prov, says: "no name and version"},
		"another name":     {config: `{"name":"web","version":"1.2.3"}`, prov: prov, says: "has chart web 1.2.3, of"},
		"another version": {
			config: `{"name":"app","version":"1.2.4"}`, prov: prov, says: "not of app-1.2.4.tgz",
		},
		"a large configuration": {config: own, prov: prov, ofConfig: huge, says: "a part of 1099511627776 bytes"},
		"no configuration":      {config: own, prov: prov, ofConfig: none, says: "not found"},
		"a large provenance":    {config: own, prov: prov, ofProv: huge, says: "a part of 1099511627776 bytes"},
		"no provenance":         {config: own, prov: prov, ofProv: none, says: "not found"},
		"another provenance":    {config: own, prov: prov, replaced: "x", says: "ends too early"},
		"one that goes on":      {config: own, prov: prov, replaced: prov + "x", says: "something else than"},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRegistry(t)
			config := r.Blob("application/vnd.cncf.helm.config.v1+json", []byte(test.config))
			beside := r.Blob("application/vnd.cncf.helm.chart.provenance.v1.prov", []byte(test.prov))
			if test.replaced != "" {
				r.Replace(beside.Digest, []byte(test.replaced))
			}
			for d, change := range map[*ocispec.Descriptor]func(ocispec.Descriptor) ocispec.Descriptor{
				&config: test.ofConfig, &beside: test.ofProv,
			} {
				if change != nil {
					mediaType := d.MediaType
					*d = change(*d)
					d.MediaType = mediaType
				}
			}
			r.Manifest("v1", ocispec.Manifest{Config: config, Layers: []ocispec.Descriptor{
				beside, r.Blob("application/vnd.cncf.helm.chart.content.v1.tar+gzip", archive),
			}})
			by, err := ringPolicy(t, alice.Ring).Image(t.Context(), resolve(t, r, ":v1"))
			if test.says == "" && (err != nil || by == "") ||
				test.says != "" && (err == nil || !strings.Contains(err.Error(), test.says)) {
				t.Errorf("%q: %v", by, err)
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
