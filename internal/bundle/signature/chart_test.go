package signature_test

import (
	"cmp"
	"strings"
	"testing"

	ocispec "github.com/opencontainers/image-spec/specs-go/v1"

	"github.com/berthdev/berth/internal/bundle/signature"
	"github.com/berthdev/berth/internal/bundle/signature/signaturetest"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/registry/pull"
	"github.com/berthdev/berth/internal/registrytest"
)

// A chart in a registry counts as signed by the provenance that was pushed along, or by cosign.
func TestChart(t *testing.T) {
	m, other := signaturetest.NewMaintainer(t, "alice", nil), signaturetest.NewMaintainer(t, "mallory", nil)
	s := signaturetest.NewCosign(t)
	archive := chart(t, "1.2.3+b")
	push := func(r registrytest.Repository, tag string, text []byte) ocispec.Descriptor {
		layers := []ocispec.Descriptor{r.Blob("application/vnd.cncf.helm.chart.content.v1.tar+gzip", archive)}
		if text != nil {
			layers = append(layers, r.Blob("application/vnd.cncf.helm.chart.provenance.v1.prov", text))
		}
		return r.Manifest(tag, ocispec.Manifest{
			Config: r.Blob("application/vnd.cncf.helm.config.v1+json", []byte(`{"name":"app","version":"1.2.3+b"}`)),
			Layers: layers,
		})
	}
	const file = "app-1.2.3+b.tgz"
	for name, test := range map[string]struct {
		keys         signature.Keys
		text         []byte
		cosign       bool
		path, tag    string // org/app and v1, unless said otherwise
		by           string
		reason, says string
	}{
		"by its maintainer": {keys: signature.Keys{Keyring: m.Ring}, text: m.Sign(t, file, archive), by: "alice"},
		"by cosign":         {keys: signature.Keys{Public: []string{s.Public}}, cosign: true, by: "key sha256:"},
		"by its maintainer, where both count": {
			keys: signature.Keys{Public: []string{s.Public}, Keyring: m.Ring}, text: m.Sign(t, file, archive),
			by: "alice",
		},
		"without": {
			keys: signature.Keys{Keyring: m.Ring}, reason: signature.ReasonUnsigned, says: "no provenance was pushed",
		},
		"by another": {
			keys: signature.Keys{Keyring: m.Ring}, text: other.Sign(t, file, archive),
			reason: signature.ReasonUntrusted, says: "not in the keyring",
		},
		"of another version": {
			keys: signature.Keys{Keyring: m.Ring}, text: m.Sign(t, "app-1.2.3.tgz", archive),
			reason: signature.ReasonOfOther, says: "not of app-1.2.3+b.tgz",
		},
		"of other content": {
			keys: signature.Keys{Keyring: m.Ring}, text: m.Sign(t, file, chart(t, "1.2.3")),
			reason: signature.ReasonOfOther, says: "its archive is sha256:",
		},
		"at the tag of its version": {
			keys: signature.Keys{Keyring: m.Ring}, text: m.Sign(t, file, archive), tag: "1.2.3_b", by: "alice",
		},
		"at the tag of its version, with v": {
			keys: signature.Keys{Keyring: m.Ring}, text: m.Sign(t, file, archive), tag: "v1.2.3_b", by: "alice",
		},
		"at a tag of its versions": {
			keys: signature.Keys{Keyring: m.Ring}, text: m.Sign(t, file, archive), tag: "1.2", by: "alice",
		},
		"at the tag of a later version": {
			keys: signature.Keys{Keyring: m.Ring}, text: m.Sign(t, file, archive), tag: "1.2.4",
			reason: pull.ReasonMismatch, says: "has chart app 1.2.3+b, of another",
		},
		"at the tag of later versions": {
			keys: signature.Keys{Keyring: m.Ring}, text: m.Sign(t, file, archive), tag: "1.20",
			reason: pull.ReasonMismatch, says: "has chart app 1.2.3+b, of another",
		},
		"in the repository of another": {
			keys: signature.Keys{Keyring: m.Ring}, text: m.Sign(t, file, archive), path: "org/shop",
			reason: pull.ReasonMismatch, says: "has chart app 1.2.3+b, of another",
		},
	} {
		t.Run(name, func(t *testing.T) {
			tag := cmp.Or(test.tag, "v1")
			r := registrytest.Start(t).Repository(cmp.Or(test.path, "org/app"))
			d := push(r, tag, test.text)
			if test.cosign {
				s.Tag(t, r, d, signaturetest.Payload(d.Digest.String()))
			}
			p, err := signature.New(test.keys, nil)
			if err != nil {
				t.Fatal(err)
			}
			by, err := p.Image(t.Context(), resolve(t, r, ":"+tag))
			if test.reason == "" {
				if err != nil || !strings.Contains(by, test.by) {
					t.Errorf("%q %v", by, err)
				}
				return
			}
			if fault.ReasonOf(err) != test.reason || !strings.Contains(err.Error(), test.says) {
				t.Errorf("%s: %v", fault.ReasonOf(err), err)
			}
		})
	}
}
