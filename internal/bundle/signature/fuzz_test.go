package signature_test

import (
	"bytes"
	"io"
	"testing"

	"github.com/berthdev/berth/internal/bundle/signature"
	"github.com/berthdev/berth/internal/bundle/signature/signaturetest"
	"github.com/berthdev/berth/internal/registry/pull"
)

const someDigest = "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"

// Nothing that was not signed counts, however it is changed: what is accepted of another text says the same.
func FuzzProvenance(f *testing.F) {
	m := signaturetest.NewMaintainer(f, "alice", nil)
	archive := chart(f, "1.2.3")
	signed := m.Sign(f, "app-1.2.3.tgz", archive)
	f.Add(signed)
	f.Add(append(bytes.Clone(signed), signed...))
	f.Add(m.SignText(f, "\n...\nfiles: {app-1.2.3.tgz: x}\n"))
	f.Add([]byte("-----BEGIN PGP SIGNED MESSAGE-----\n\n-----BEGIN PGP SIGNATURE-----\n\n-----END PGP SIGNATURE-----"))
	p := ringPolicy(f, m.Ring)
	f.Fuzz(func(t *testing.T, text []byte) {
		a, err := p.Archive("x", "app-1.2.3.tgz", text)
		if err != nil {
			return
		}
		all := func(r io.Reader) error {
			_, err := io.Copy(io.Discard, r)
			return err
		}
		if a.Read(bytes.NewReader([]byte("another archive")), all) == nil {
			t.Errorf("another archive is accepted:\n%s", text)
		}
	})
}

// A bundle or a payload of another digest never counts.
func FuzzSignature(f *testing.F) {
	s := signaturetest.NewCosign(f)
	of := signaturetest.Payload(someDigest)
	f.Add(s.Bundle(f, someDigest, signaturetest.PredicateSign), true, s.Sign(f, of))
	f.Add(of, false, s.Sign(f, of))
	f.Add([]byte(`{"dsseEnvelope":{"payload":"e30=","payloadType":"application/vnd.in-toto+json",`+
		`"signatures":[{}]}}`), true, []byte(nil))
	p := policy(f, s.Public)
	f.Fuzz(func(t *testing.T, text []byte, bundle bool, signed []byte) {
		a := pull.Attachment{MediaType: pull.TypePayload, Content: text, Annotations: map[string]string{
			"dev.cosignproject.cosign/signature": string(signed),
		}}
		if bundle {
			a.MediaType = pull.TypeBundle
		}
		if by, _ := p.Attached(a, "sha256:0"); by != "" {
			t.Errorf("%s has signed another digest:\n%s", by, text)
		}
	})
}

// Keys of others are read, or refused.
func FuzzKeys(f *testing.F) {
	f.Add([]byte("-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----\n"), false)
	f.Add([]byte("-----BEGIN PGP PUBLIC KEY BLOCK-----\n\n-----END PGP PUBLIC KEY BLOCK-----"), true)
	f.Fuzz(func(t *testing.T, text []byte, ring bool) {
		if !signature.IsText(string(text)) {
			return
		}
		keys := signature.Keys{Public: []string{string(text)}}
		if ring {
			keys = signature.Keys{Keyring: string(text)}
		}
		if p, err := signature.New(keys, nil); (p == nil) == (err == nil) {
			t.Errorf("%v %v", p, err)
		}
	})
}
