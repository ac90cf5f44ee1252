//go:build e2e

package e2e

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	v1 "github.com/berthdev/berth/api/v1"
)

// history is what is recorded of the instance of the world: each revision and its status, the newest first.
func (w *world) history() (all []string) {
	w.Helper()
	for _, r := range decode[v1.BundleHistory](w, w.bundle(0, "history", "-o", "json")).Items {
		all = append(all, fmt.Sprintf("%d %s", r.Revision, r.Status))
	}
	return all
}

// What was installed before is installed again: the instance wants it, so that a pass leaves it; the history has all of
// it, and the files of what is installed can be had from the cluster. So it is on a machine that has nothing of what
// was sent.
func TestBundleRollback(t *testing.T) {
	w := newBundles(t)
	first := w.plain(configMap("a", "one {{ literal }}"), configMap("gone", "x"))
	second := w.plain(configMap("a", "two"))
	w.bundle(0, "install", first)
	w.bundle(0, "install", second)
	if got, want := w.history(), []string{"2 deployed", "1 superseded"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	w.contains(w.bundle(0, "history").stdout, "deployed", "superseded", "an upload")

	dir := filepath.Join(t.TempDir(), "content")
	w.bundle(0, "content", dir)
	sent, err := os.ReadFile(filepath.Join(second, "manifests", "all.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile(filepath.Join(dir, "manifests", "all.yaml")); err != nil || !bytes.Equal(got, sent) {
		t.Errorf("%s, %v", got, err)
	}
	w.contains(w.bundle(6, "content", dir).stderr, "is not empty")

	preview := w.bundle(0, "rollback", "--dry-run=server").stdout
	w.contains(preview, "# update configmap/a", "# create configmap/gone")
	if strings.Contains(preview, "managedFields") {
		t.Error(preview)
	}
	w.says(map[string]string{"a": "two"})
	was := map[string]string{"a": "one {{ literal }}", "gone": "x"}
	i := decode[v1.BundleInstallation](w, w.bundle(0, "rollback", "-o", "json"))
	if i.Action != v1.BundleUpgraded || i.Revision != 3 || i.RolledBackTo != 1 || !i.Healthy {
		t.Errorf("%+v", i)
	}
	w.says(was)
	w.agree(first, was)

	cmd := w.command("bundle", "rollback", w.instance(), "2", "--system-namespace", w.namespace)
	cmd.Env = append(cmd.Env, "XDG_CACHE_HOME="+t.TempDir())
	w.finish(cmd).mustBe(w, 0)
	w.says(map[string]string{"a": "two"})
	if got := strings.Join(w.history(), ", "); got != "4 deployed, 3 superseded, 2 superseded, 1 superseded" {
		t.Error(got)
	}
	w.contains(w.bundle(7, "rollback", "9").stderr, "no revision 9", "4, 3, 2, 1")
	w.uninstalled()
}
