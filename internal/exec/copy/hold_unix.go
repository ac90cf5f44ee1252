//go:build unix

package copy

import (
	"os"

	"golang.org/x/sys/unix"
)

// canHold says whether a temporary directory tells if its process lives.
const canHold = true

// hold takes the lock of a directory, which ends with the process; false if another one
// has it.
func hold(dir *os.File) bool {
	return unix.Flock(int(dir.Fd()), unix.LOCK_EX|unix.LOCK_NB) == nil
}
