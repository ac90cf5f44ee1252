package sshconfig

import (
	"os"

	"golang.org/x/sys/windows"
)

// errLocked is the error about a file that another process has locked.
const errLocked = windows.ERROR_LOCK_VIOLATION

func lockFile(f *os.File) error {
	return windows.LockFileEx(windows.Handle(f.Fd()),
		windows.LOCKFILE_EXCLUSIVE_LOCK|windows.LOCKFILE_FAIL_IMMEDIATELY, 0, 1, 0, new(windows.Overlapped))
}
