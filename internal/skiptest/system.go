package skiptest

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"
)

// Windows is true where files have no modes but read-only, and paths have backslashes.
const Windows = runtime.GOOS == "windows"

// OnWindows skips a test, or a part of one, that is about what Windows does not have.
func OnWindows(t testing.TB, why string) {
	t.Helper()
	if Windows {
		t.Skip("not on Windows: " + why)
	}
}

// CanSymlink is true where symbolic links can be made. Not every user of Windows may, and Wine only says that it does.
func CanSymlink(t testing.TB) bool {
	t.Helper()
	at := filepath.Join(t.TempDir(), "link")
	if os.Symlink("x", at) != nil {
		return false
	}
	_, err := os.Lstat(at)
	return err == nil
}

// Symlink makes a symbolic link, or skips a test of Windows where that cannot be done.
func Symlink(t testing.TB, to, at string) {
	t.Helper()
	if Windows && !CanSymlink(t) {
		t.Skip("symbolic links cannot be made here")
	}
	if err := os.Symlink(to, at); err != nil {
		t.Fatal(err)
	}
}
