// Package skiptest is for tests that not every machine can run.
package skiptest

import (
	"os"
	"testing"
)

// Env is the variable that forbids to skip: where all tests have to run, as in CI, what
// a machine lacks is a failure.
const Env = "BERTH_TEST_NO_SKIP"

// Lacks skips a test because of what this machine lacks.
func Lacks(t testing.TB, format string, args ...any) {
	t.Helper()
	if os.Getenv(Env) != "" {
		t.Fatalf("not to be skipped ("+Env+"): "+format, args...)
	}
	t.Skipf(format, args...)
}
