package source_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/berthdev/berth/internal/registrytest"
	"github.com/berthdev/berth/internal/skiptest"
)

// What the real helm pushes is read, with a provenance beside it.
func TestHelmPush(t *testing.T) {
	helm := skiptest.Helm(t)
	ref := registrytest.Start(t).Host + "/org/app"
	dir := t.TempDir()
	for _, version := range []string{"1.2.3", "1.4.0+build.1", "2.0.0-rc.1"} {
		file := filepath.Join(dir, "app-"+version+".tgz")
		for path, text := range map[string]string{file: string(chartArchive(t, version)), file + ".prov": "unread"} {
			if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		push := exec.CommandContext(t.Context(), helm, "push", file, "oci://"+strings.TrimSuffix(ref, "/app"),
			"--plain-http")
		push.Env = append(os.Environ(), "HOME="+dir, "HELM_CONFIG_HOME="+dir, "HELM_CACHE_HOME="+dir)
		if out, err := push.CombinedOutput(); err != nil {
			t.Fatalf("%v %s", err, out)
		}
	}
	for version, want := range map[string]string{
		"1.2.3": "1.2.3", "^1": "1.4.0+build.1", "*": "1.4.0+build.1", ">=1-0": "2.0.0-rc.1",
	} {
		f, _ := onCluster(t)
		s := ofImage(ref, "")
		s.Image.Version = version
		c, _, err := f.Fetch(t.Context(), s)
		if err != nil {
			t.Errorf("%s: %v", version, err)
			continue
		}
		if got := versionOf(t, c); got != want {
			t.Errorf("%s: %s, not %s", version, got, want)
		}
		_ = c.Close()
	}
}
