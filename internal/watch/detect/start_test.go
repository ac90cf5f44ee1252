package detect

import (
	"testing"
)

func TestTrimStart(t *testing.T) {
	said := `failed to create containerd task: OCI runtime create failed: unable to start container process: error ` +
		`during container init: exec: "nope": executable file not found in $PATH: unknown`
	want := `cannot start: exec: "nope": executable file not found in $PATH`
	if got := trimStart(said); got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
