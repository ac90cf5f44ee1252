package instance

import (
	"os"
	"path/filepath"
	"testing"
)

func TestDefaultDir(t *testing.T) {
	if DefaultDir("/one") == DefaultDir("/other") {
		t.Error("two checkouts share a state directory")
	}
}

// Down removes the state directory, so up must not take one that has other
// things in it.
func TestClaim(t *testing.T) {
	dir := t.TempDir()
	i, err := New(filepath.Join(dir, "new"), "", nil)
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := i.claim(); err != nil {
			t.Error(err)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "precious"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	i, err = New(dir, "", nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := i.claim(); err == nil {
		t.Error("a directory with other files was taken")
	}
	if err := i.owned(); err == nil {
		t.Error("a directory with other files counts as the cluster's")
	}
}
