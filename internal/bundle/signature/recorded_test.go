package signature_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/berthdev/berth/internal/bundle/signature"
	"github.com/berthdev/berth/internal/bundle/signature/signaturetest"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/registrytest"
)

// The ways in which cosign signs: as it has done since 2021, and as it does since version 3 unless it is told
// otherwise.
var ways = map[string][]string{
	"tag":    {"--new-bundle-format=false", "--use-signing-config=false"},
	"bundle": {"--new-bundle-format=true", "--use-signing-config=false"},
}

// What cosign 3.0.6 itself has signed counts, with its key alone. The recordings are written by
//
//	PATH=DIRECTORY-OF-COSIGN:$PATH RECORD=1 go test -run TestCosign ./internal/bundle/signature
func TestRecordedByCosign(t *testing.T) {
	for way := range ways {
		t.Run(way, func(t *testing.T) {
			dir := filepath.Join("testdata", "cosign", way)
			text, err := os.ReadFile(filepath.Join(dir, "registry.json"))
			if err != nil {
				t.Fatal(err)
			}
			var c registrytest.Content
			if err := json.Unmarshal(text, &c); err != nil {
				t.Fatal(err)
			}
			r := newRegistry(t)
			r.Load(c)
			signedWith(t, r, filepath.Join(dir, "cosign.pub"), way == "bundle")
		})
	}
}

// signedWith checks what holds of every signed image. The signature may say which key made it.
func signedWith(t *testing.T, r registrytest.Repository, pub string, hinted bool) {
	t.Helper()
	by, err := policy(t, pub).Image(t.Context(), resolve(t, r, ":v1"))
	if err != nil || !strings.HasPrefix(by, "key sha256:") {
		t.Errorf("%q %v", by, err)
	}
	_, err = policy(t, signaturetest.NewCosign(t).Public).Image(t.Context(), resolve(t, r, ":v1"))
	if fault.ReasonOf(err) != signature.ReasonUntrusted ||
		hinted && !strings.Contains(err.Error(), strings.TrimPrefix(by, "key ")) {
		t.Errorf("another key: %s: %v", fault.ReasonOf(err), err)
	}
	image(r, "v2", "another")
	_, err = policy(t, pub).Image(t.Context(), resolve(t, r, ":v2"))
	if fault.ReasonOf(err) != signature.ReasonUnsigned {
		t.Errorf("another image: %s: %v", fault.ReasonOf(err), err)
	}
}

// What the real cosign signs counts.
func TestCosign(t *testing.T) {
	cosign, err := exec.LookPath("cosign")
	if err != nil {
		t.Skip("needs cosign: PATH=DIRECTORY-OF-COSIGN:$PATH go test ./internal/bundle/signature")
	}
	for way, flags := range ways {
		t.Run(way, func(t *testing.T) {
			dir := t.TempDir()
			run := func(args ...string) {
				t.Helper()
				cmd := exec.CommandContext(t.Context(), cosign, args...)
				cmd.Dir, cmd.Env = dir, append(os.Environ(), "HOME="+dir, "COSIGN_PASSWORD=x")
				if out, err := cmd.CombinedOutput(); err != nil {
					t.Fatalf("%v %s", err, out)
				}
			}
			r := newRegistry(t)
			image := image(r, "v1", "a")
			run("generate-key-pair")
			run(append([]string{
				"sign", "--key", "cosign.key", "--tlog-upload=false", "--yes",
				r.Host + "/org/app@" + image.Digest.String(),
			}, flags...)...)
			pub := filepath.Join(dir, "cosign.pub")
			if os.Getenv("RECORD") != "" {
				record(t, r, pub, filepath.Join("testdata", "cosign", way))
			}
			signedWith(t, r, pub, way == "bundle")
		})
	}
}

// record keeps what a registry has, and the key.
func record(t *testing.T, r registrytest.Repository, pub, dir string) {
	t.Helper()
	text, err := json.MarshalIndent(r.Content(), "", " ")
	if err != nil {
		t.Fatal(err)
	}
	key, err := os.ReadFile(pub)
	if err == nil {
		err = os.MkdirAll(dir, 0o755)
	}
	for name, text := range map[string][]byte{"registry.json": append(text, '\n'), "cosign.pub": key} {
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, name), text, 0o600)
		}
	}
	if err != nil {
		t.Fatal(err)
	}
}
