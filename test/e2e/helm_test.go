//go:build e2e

package e2e

import (
	"os"
	"os/exec"
	"testing"

	v1 "github.com/berthdev/berth/api/v1"
)

// The real helm lists, reads and uninstalls what berth installed.
func TestHelmUnderstandsTheRelease(t *testing.T) {
	helm := os.Getenv("BERTH_TEST_HELM")
	if helm == "" {
		t.Fatal("BERTH_TEST_HELM is not set: run `make test`")
	}
	w := newWorld(t)
	id := decode[v1.Workspace](w, w.must(0, "provision", "alice~dev", "-o", "json")).ID
	run := func(args ...string) string {
		t.Helper()
		cmd := exec.Command(helm, append(args, "--namespace", w.namespace, "--kubeconfig", w.admin)...)
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("helm %s: %v\n%s", args, err, out)
		}
		return string(out)
	}
	w.contains(run("list"), id, "deployed", "k8shell-workspace-")
	w.contains(run("get", "manifest", id), "kind: Pod", "pvc-"+id+"-home")
	w.contains(run("get", "values", id), "registry.example.com/berth/workspace:v1")
	w.contains(run("status", id), "STATUS: deployed")
	w.contains(run("uninstall", id, "--wait"), "uninstalled")
	w.eventually("nothing is left", func() bool { return len(w.leftovers()) == 0 })
	w.must(0, "provision", "alice~dev")
}
