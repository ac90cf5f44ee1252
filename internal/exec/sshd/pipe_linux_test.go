package sshd

import (
	"os"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/berthdev/berth/internal/skiptest"
)

// The pipes of a client hold several packets; what is no pipe stays as it is.
func TestWiden(t *testing.T) {
	out, in, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	defer in.Close()
	file, err := os.Create(t.TempDir() + "/file")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	other, another, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	_, err = unix.FcntlInt(other.Fd(), unix.F_SETPIPE_SZ, pipeSize)
	_, _ = other.Close(), another.Close() // so that it leaves room
	if err != nil {
		skiptest.Lacks(t, "the user may have no larger pipes: %v", err) // more than pipe-user-pages-soft are in use
	}
	Widen(nil, file, in)
	if size, err := unix.FcntlInt(out.Fd(), unix.F_GETPIPE_SZ, 0); err != nil || size < pipeSize {
		t.Errorf("the pipe holds %d bytes, %v", size, err)
	}
}
