package signature_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ProtonMail/go-crypto/openpgp"
	"github.com/ProtonMail/go-crypto/openpgp/armor"

	"github.com/berthdev/berth/internal/bundle/signature"
	"github.com/berthdev/berth/internal/bundle/signature/signaturetest"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/skiptest"
)

func written(t testing.TB, name string, text []byte) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(file, text, 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// chart is an archive as `helm package` makes it.
func chart(t testing.TB, version string) []byte {
	t.Helper()
	var b bytes.Buffer
	compressed := gzip.NewWriter(&b)
	w := tar.NewWriter(compressed)
	text := "apiVersion: v2\nname: app\nversion: " + version + "\n"
	if err := w.WriteHeader(&tar.Header{Name: "app/Chart.yaml", Mode: 0o644, Size: int64(len(text))}); err != nil {
		t.Fatal(err)
	}
	_, err := io.WriteString(w, text)
	for _, closer := range []io.Closer{w, compressed} {
		if err == nil {
			err = closer.Close()
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func ringPolicy(t testing.TB, ring string) *signature.Policy {
	t.Helper()
	p, err := signature.New(signature.Keys{Keyring: ring}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func sumOf(archive []byte) string {
	sum := sha256.Sum256(archive)
	return "sha256:" + hex.EncodeToString(sum[:])
}

// An archive counts as signed if its provenance is of a key of the keyring, names the file and has its digest, and
// nothing stands beside what was signed.
func TestArchive(t *testing.T) {
	m, other := signaturetest.NewMaintainer(t, "alice", nil), signaturetest.NewMaintainer(t, "mallory", nil)
	archive := chart(t, "1.2.3")
	const file, meta = "app-1.2.3.tgz", "name: app\nversion: 1.2.3\n\n...\n"
	files := func(sum string) string { return meta + "files:\n  " + file + ": " + sum + "\n" }
	signed := m.Sign(t, file, archive)
	for name, test := range map[string]struct {
		text         []byte
		reason, says string
	}{
		"by helm":         {text: signed},
		"with CR LF":      {text: bytes.ReplaceAll(signed, []byte("\n"), []byte("\r\n"))},
		"by its own rule": {text: m.SignText(t, files(sumOf(archive)))},
		"without":         {reason: signature.ReasonUnsigned, says: "no signature was found"},
		"by another": {
			text: other.Sign(t, file, archive), reason: signature.ReasonUntrusted,
			says: "key " + other.ID[24:] + ", which is not in the keyring",
		},
		"of other content": {
			text: m.Sign(t, file, chart(t, "1.2.4")), reason: signature.ReasonOfOther, says: "has signed sha256:",
		},
		"of another file": {
			text: m.Sign(t, "app-1.2.2.tgz", archive), reason: signature.ReasonOfOther,
			says: "is of app-1.2.2.tgz, not of",
		},
		"a changed digest": {
			text:   bytes.Replace(signed, []byte(sumOf(archive)), []byte(sumOf(nil)), 1),
			reason: signature.ReasonOfOther, says: "is not of this text",
		},
		"two signed texts": {
			text:   append(bytes.Clone(signed), m.SignText(t, files(sumOf(nil)))...),
			reason: signature.ReasonUntrusted, says: "something follows what is signed",
		},
		"a text behind": {
			text:   append(bytes.Clone(signed), "files:\n"...),
			reason: signature.ReasonUntrusted, says: "something follows what is signed",
		},
		"a text before": {
			text:   append([]byte("files: {}\n"), signed...),
			reason: signature.ReasonUntrusted, says: "is not a signed text",
		},
		"no text at all": {text: []byte{}, reason: signature.ReasonUntrusted, says: "is not a signed text"},
		"an empty text": { // at which the library panics
			text: []byte("-----BEGIN PGP SIGNED MESSAGE-----\n\n-----BEGIN PGP SIGNATURE-----\n\n" +
				"-----END PGP SIGNATURE-----\n"), reason: signature.ReasonUntrusted, says: "is not a signed text",
		},
		"too large": {
			text: bytes.Repeat([]byte("x"), signature.MaxProvenance+1), reason: signature.ReasonUntrusted,
			says: "more than 1024 KiB",
		},
		"without files": {
			text: m.SignText(t, meta+"images: {}\n"), reason: signature.ReasonOfOther, says: "it has 0 files",
		},
		"files twice": {
			text:   m.SignText(t, files(sumOf(archive))+"\n...\nfiles:\n  "+file+": "+sumOf(nil)+"\n"),
			reason: signature.ReasonOfOther, says: "does not have two parts",
		},
		"files that grow": {
			text: m.SignText(t, meta+"a: &a [x,x,x,x,x,x,x,x,x,x]\nb: &b ["+strings.Repeat("*a,", 999)+"]\nc: ["+
				strings.Repeat("*b,", 999)+"]\nfiles: {}\n"),
			reason: signature.ReasonOfOther, says: "not valid YAML",
		},
	} {
		t.Run(name, func(t *testing.T) {
			a, err := ringPolicy(t, m.Ring).Archive("the archive x", file, test.text)
			if err == nil {
				err = a.Read(bytes.NewReader(archive), func(r io.Reader) error {
					_, err := io.CopyN(io.Discard, r, 10) // and not all of it
					return err
				})
			}
			if test.reason == "" {
				if err != nil || !strings.HasPrefix(a.By, "key "+m.ID+" (alice") {
					t.Errorf("%q %v", a.By, err)
				}
				return
			}
			if fault.ReasonOf(err) != test.reason || !strings.Contains(err.Error(), test.says) ||
				fault.From(err).Hint == "" {
				t.Errorf("%s: %v", fault.ReasonOf(err), err)
			}
		})
	}
}

// A keyring is as gpg exports it, in armor or not, and that of helm counts where someone is at home and no key is
// named.
func TestKeyring(t *testing.T) {
	m := signaturetest.NewMaintainer(t, "alice", nil)
	plain, err := os.ReadFile(m.Ring)
	if err != nil {
		t.Fatal(err)
	}
	var armored bytes.Buffer
	w, err := armor.Encode(&armored, openpgp.PublicKeyType, nil)
	if err == nil {
		_, err = w.Write(plain)
	}
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	texts, err := signature.Keys{Keyring: m.Ring}.Texts()
	if err != nil || !signature.IsText(texts.Keyring) {
		t.Fatalf("%q %v", texts.Keyring, err)
	}
	home := func(name string) string { return map[string]string{"GNUPGHOME": filepath.Dir(m.Ring)}[name] }
	for name, test := range map[string]struct {
		keys   signature.Keys
		getenv func(string) string
		says   string
	}{
		"a file":         {keys: signature.Keys{Keyring: m.Ring}},
		"in armor":       {keys: signature.Keys{Keyring: written(t, "a.asc", armored.Bytes())}},
		"as a text":      {keys: texts},
		"at home":        {getenv: home},
		"nobody at home": {says: "no keys are given"},
		"with another key": {
			keys: signature.Keys{Public: []string{signaturetest.NewCosign(t).Public}}, getenv: home, says: "no keyring",
		},
		"not a keyring": {keys: signature.Keys{Keyring: written(t, "x", []byte("KBXf"))}, says: "gpg --export"},
		"an empty one":  {keys: signature.Keys{Keyring: written(t, "x", nil)}, says: "has no keys"},
	} {
		archive := chart(t, "1.2.3")
		p, err := signature.New(test.keys, test.getenv)
		if err == nil {
			_, err = p.Archive("the archive x", "app-1.2.3.tgz", m.Sign(t, "app-1.2.3.tgz", archive))
		}
		if test.says == "" && err != nil || test.says != "" && (err == nil ||
			!strings.Contains(err.Error()+fault.From(err).Hint, test.says)) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// What gpg itself signs counts: the key with the keyring that it exports.
func TestGPG(t *testing.T) {
	gpg, err := exec.LookPath("gpg")
	if err != nil {
		skiptest.Lacks(t, "needs gpg")
	}
	home := t.TempDir()
	run := func(args ...string) {
		t.Helper()
		args = append([]string{"--homedir", home, "--batch", "--yes"}, args...)
		cmd := exec.CommandContext(t.Context(), gpg, args...)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v %s", err, out)
		}
	}
	t.Cleanup(func() { _ = exec.Command("gpgconf", "--homedir", home, "--kill", "all").Run() })
	run("--passphrase", "", "--quick-generate-key", "Bob <bob@example.com>", "rsa2048", "sign", "never")
	ring, archive := filepath.Join(home, "exported.gpg"), chart(t, "1.2.3")
	run("--output", ring, "--export", "bob@example.com")
	text := written(t, "text", []byte("name: app\n\n...\nfiles:\n  app-1.2.3.tgz: "+sumOf(archive)+"\n"))
	run("--output", text+".asc", "--clearsign", text)
	signed, err := os.ReadFile(text + ".asc")
	if err != nil {
		t.Fatal(err)
	}
	a, err := ringPolicy(t, ring).Archive("the archive x", "app-1.2.3.tgz", signed)
	if err != nil || !strings.Contains(a.By, "Bob <bob@example.com>") {
		t.Errorf("%q %v", a.By, err)
	}
}
