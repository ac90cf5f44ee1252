// Package packages looks at what a release has, lists it, installs it and removes it again: on a new Debian, on a root
// of busybox alone, and in a root of rpm's. `make test-packages` builds the snapshot that it is about.
package packages

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/berthdev/berth/internal/skiptest"
)

// snapshotVariable names the directory of a snapshot, as goreleaser leaves it.
const snapshotVariable = "BERTH_TEST_SNAPSHOT"

// snapshot is the directory of what `make snapshot` has built.
func snapshot(t *testing.T) string {
	t.Helper()
	dir := os.Getenv(snapshotVariable)
	if dir == "" {
		t.Skip("needs what a release has: make test-packages")
	}
	return dir
}

// artifact is the path of the one file of the snapshot whose name ends so.
func artifact(t *testing.T, end string) string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(snapshot(t), "berth_*"+end))
	if err != nil || len(found) != 1 {
		t.Fatalf("the snapshot has %q for *%s, want one (%v)", found, end, err)
	}
	return found[0]
}

// version is that of the snapshot.
func version(t *testing.T) string {
	t.Helper()
	name := strings.TrimPrefix(filepath.Base(artifact(t, "_linux_amd64.tar.gz")), "berth_")
	return strings.TrimSuffix(name, "_linux_amd64.tar.gz")
}

// needs skips a test on a machine that lacks one of these programs, or root if the test makes roots.
func needs(t *testing.T, programs ...string) {
	t.Helper()
	for _, program := range programs {
		if _, err := exec.LookPath(program); err != nil {
			skiptest.Lacks(t, "no %s on this machine: apt-get install debootstrap rpm busybox-static has it", program)
		}
	}
}

// run runs a program that has to succeed, and is what it prints.
func run(t *testing.T, program string, args ...string) string {
	t.Helper()
	var stderr bytes.Buffer
	cmd := exec.Command(program, args...)
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s %s: %v\n%s%s", program, strings.Join(args, " "), err, out, stderr.String())
	}
	return string(out)
}
