package commands

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/berthdev/berth/internal/terminal"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// run runs berth as main does.
func run(t *testing.T, args ...string) (status int, stdout, stderr string) {
	t.Helper()
	return runWith(t, "", args...)
}

// runWith gives it something to read.
func runWith(t *testing.T, stdin string, args ...string) (status int, stdout, stderr string) {
	t.Helper()
	streams, b := terminal.Test(stdin, time.Date(2026, time.November, 21, 0, 0, 0, 0, time.UTC))
	status = Main(args, streams, func(int) { t.Error("it left at once") })
	return status, b.Out.String(), b.Err.String()
}

func mustRun(t *testing.T, want int, args ...string) (stdout, stderr string) {
	t.Helper()
	status, stdout, stderr := run(t, args...)
	if status != want {
		t.Fatalf("berth %s: exit status %d, want %d\n%s\n%s", strings.Join(args, " "), status, want, stdout, stderr)
	}
	return stdout, stderr
}

// nowhere makes sure that neither cluster nor configuration can be read.
func nowhere(t *testing.T) {
	t.Helper()
	t.Setenv("KUBECONFIG", filepath.Join(t.TempDir(), "none"))
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	t.Setenv("BERTH_CONFIG", "")
	t.Setenv("BERTH_BLUEPRINTS", "")
}

// offline runs berth where it can reach nothing.
func offline(t *testing.T, stdin string, args ...string) (status int, stdout, stderr string) {
	t.Helper()
	nowhere(t)
	return runWith(t, stdin, args...)
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	file := filepath.Join("testdata", name)
	if *update {
		if err := os.MkdirAll(filepath.Dir(file), 0o750); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", file, diff)
	}
}
