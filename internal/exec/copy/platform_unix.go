//go:build unix

package copy

import (
	"io/fs"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// canHold says whether a temporary directory tells if its process lives.
const canHold = true

// hold takes the lock of a directory, which ends with the process; false if another one has it.
func hold(dir *os.File) bool {
	return unix.Flock(int(dir.Fd()), unix.LOCK_EX|unix.LOCK_NB) == nil
}

// fileID is what all names of a file have in common.
type fileID struct{ dev, ino uint64 }

// idOf says which file it is, if it may have several names.
func idOf(info fs.FileInfo) (id fileID, several bool) {
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok || stat.Nlink < 2 {
		return fileID{}, false
	}
	return fileID{uint64(stat.Dev), stat.Ino}, true //nolint:unconvert,nolintlint // it is another type elsewhere
}

// replace gives a file another name.
func replace(at *os.Root, from, to string) error { return at.Rename(from, to) }
