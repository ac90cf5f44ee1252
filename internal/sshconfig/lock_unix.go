//go:build unix

package sshconfig

import (
	"os"

	"golang.org/x/sys/unix"
)

// errLocked is the error about a file that another process has locked.
const errLocked = unix.EWOULDBLOCK

func lockFile(f *os.File) error { return unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB) }
