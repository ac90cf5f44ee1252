package bundle_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/berthdev/berth/internal/bundle/content"
	"github.com/berthdev/berth/internal/bundle/signature/signaturetest"
	"github.com/berthdev/berth/internal/commands/cmdtest"
)

// signedChart is the archive of a chart with helm's provenance beside it, one without, and the keyring.
func signedChart(t *testing.T) (signed, unsigned, ring string) {
	t.Helper()
	t.Setenv("GNUPGHOME", t.TempDir())
	there(t, map[string]string{
		"app/Chart.yaml":       "apiVersion: v2\nname: app\nversion: 1.0.0\n",
		"app/templates/a.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n",
	})
	dir, alice := t.TempDir(), signaturetest.NewMaintainer(t, "alice", nil)
	signed, unsigned = filepath.Join(dir, "app-1.0.0.tgz"), filepath.Join(dir, "app-1.0.1.tgz")
	archive := archived(t, "shop")
	for file, text := range map[string][]byte{
		signed: archive, unsigned: archive, signed + ".prov": alice.Sign(t, filepath.Base(signed), archive),
	} {
		if err := os.WriteFile(file, text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return signed, unsigned, alice.Ring
}

// archived is a directory as one archive.
func archived(t *testing.T, dir string) []byte {
	t.Helper()
	b, err := content.NewBuilder(content.NewCache(t.TempDir(), 1<<20), content.DefaultLimits())
	if err != nil {
		t.Fatal(err)
	}
	defer b.Discard()
	for _, name := range []string{"app/Chart.yaml", "app/templates/a.yaml"} {
		text, err := os.ReadFile(filepath.Join(dir, name))
		if err == nil {
			err = b.Add(name, int64(len(text)), bytes.NewReader(text))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	c, err := b.Seal(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	var out bytes.Buffer
	r, err := c.Open()
	if err == nil {
		_, err = out.ReadFrom(r)
	}
	if err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// Where the configuration or the command line asks for signatures, nothing else is taken, and it is said by whom what
// is taken was signed.
func TestOnlyWhatIsSigned(t *testing.T) {
	signed, unsigned, ring := signedChart(t)
	required := "{verify: required, keyring: " + ring + "}"
	for name, test := range map[string]struct {
		config string
		args   []string
		status int
		says   string
	}{
		"nothing is asked for": {args: []string{unsigned}},
		"by a flag":            {args: []string{signed, "--keyring", ring}, says: "(alice"},
		"by a flag, unsigned": {
			args: []string{unsigned, "--keyring", ring}, status: 3, says: "no signature was found",
		},
		"by the configuration": {config: required, args: []string{signed}, says: "(alice"},
		"required, and unsigned": {
			config: required, args: []string{unsigned}, status: 3, says: "no signature was found",
		},
		"required, a directory": {
			config: required, args: []string{"shop"}, status: 3, says: "the directory shop cannot be verified",
		},
		"required, without keys": {
			config: "{verify: required}", args: []string{signed}, status: 2, says: "no keys are given",
		},
		"required, not taken off": {
			config: "{verify: required}", args: []string{unsigned, "--verify=false"}, status: 2,
			says: "the configuration requires",
		},
	} {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "config.yaml")
			text := ""
			if test.config != "" {
				text = "bundles: " + test.config + "\n"
			}
			if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			t.Setenv("BERTH_CONFIG", file)
			for _, verb := range []string{"validate", "template"} {
				status, out, stderr := cmdtest.Run(t, "", append([]string{"bundle", verb}, test.args...)...)
				said := verb == "template" && test.status == 0 || strings.Contains(out+stderr, test.says)
				if status != test.status || !said || status != 0 && !strings.Contains(stderr, "hint:") {
					t.Errorf("%s: %d\n%s%s", verb, status, out, stderr)
				}
			}
		})
	}
}
