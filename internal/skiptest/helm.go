package skiptest

import (
	"os/exec"
	"testing"
)

// Helm is the path of the helm of this machine. A test that needs one is skipped without it, and nowhere forbidden to
// be: `make test-unit` runs these tests once more, with the helm of scripts/tool.
func Helm(t testing.TB) string {
	t.Helper()
	helm, err := exec.LookPath("helm")
	if err != nil {
		t.Skip("needs helm: PATH=$(dirname $(scripts/tool helm)):$PATH go test PACKAGE")
	}
	return helm
}
