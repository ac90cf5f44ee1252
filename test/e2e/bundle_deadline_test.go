//go:build e2e

package e2e

import (
	"fmt"
	"strings"
	"testing"

	v1 "github.com/berthdev/berth/api/v1"
)

// After a rollout whose deadline has passed, the next version is waited for on its own account,
// also if it goes back to a ReplicaSet that exists: the Deployment says for a while that the
// one before has timed out.
func TestBundleAfterAPassedDeadline(t *testing.T) {
	w := newBundles(t)
	dir := w.chart("shop", strings.Replace(program("shop", "{{ .Values.image }}", sleeping), "spec:\n",
		"spec:\n  progressDeadlineSeconds: 5\n", 1))
	good := w.write(w.TempDir(), "values.yaml", "image: "+workspaceImage)
	progressing := func() string {
		return w.output("get", "deployment", "shop", "--output",
			`jsonpath={.status.conditions[?(@.type=="Progressing")].reason}`)
	}
	for i, revision := range []string{"that is new", "that it had before", "that it had before"} {
		// An image of its own: the deadline of a ReplicaSet that the Deployment had before passes only if the
		// controller has seen a status between the two, which on a busy machine it has not.
		bad := w.write(w.TempDir(), "values.yaml", fmt.Sprintf("image: %s-%d", missingImage, i))
		w.contains(w.bundle(3, "install", dir, "--values", bad).stderr, "ImageNotFound")
		w.eventually("the deadline passes",
			func() bool { return strings.TrimSpace(progressing()) == "ProgressDeadlineExceeded" })
		r := w.bundle(0, "install", dir, "--values", good, "-o", "json")
		if done := decode[v1.BundleInstallation](w, r); !done.Healthy {
			t.Errorf("to a revision %s: %+v\n%s", revision, done, r.stderr)
		}
		if state := decode[v1.BundleState](w, w.bundle(0, "status", "-o", "json")); state.State != v1.BundleHealthy {
			t.Errorf("to a revision %s: %+v", revision, state)
		}
	}
	w.uninstalled()
}
