package sshd

import (
	"os"
	"testing"

	"golang.org/x/sys/unix"
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
	Widen(nil, file, in)
	if size, err := unix.FcntlInt(out.Fd(), unix.F_GETPIPE_SZ, 0); err != nil || size < pipeSize {
		t.Errorf("the pipe holds %d bytes, %v", size, err)
	}
}
