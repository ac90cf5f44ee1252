package host

import (
	"os"
	"path/filepath"
	"testing"
)

// A program that needs a loader does not run in an image that has nothing else; nor does a script.
func TestStatic(t *testing.T) {
	script := filepath.Join(t.TempDir(), "script")
	if err := os.WriteFile(script, []byte("#!/bin/sh\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]bool{script: false, find("sh"): false, "/bin/no-such-program": false} {
		if got := static(path); got != want {
			t.Errorf("%s: %t, want %t", path, got, want)
		}
	}
	if path := find("busybox"); path != "" && len(Missing()) == 0 && !static(path) {
		t.Errorf("%s is taken, and runs in no image", path)
	}
}
