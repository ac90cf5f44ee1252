package instance

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// lock keeps two commands from changing the same instance at once. The lock
// file is beside the state directory, which comes and goes; it is removed with
// the lock held, so a lock counts only on the file that still has the name.
func (i *Instance) lock() (unlock func(), err error) {
	name := i.dir + ".lock"
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return nil, err
	}
	for {
		file, err := os.OpenFile(name, os.O_CREATE|os.O_RDWR, 0o600)
		if err != nil {
			return nil, fmt.Errorf("lock %s: %w", i.dir, err)
		}
		err = unix.Flock(int(file.Fd()), unix.LOCK_EX|unix.LOCK_NB)
		if errors.Is(err, unix.EWOULDBLOCK) {
			i.Say("waiting for another command on the same cluster to finish")
			err = unix.Flock(int(file.Fd()), unix.LOCK_EX)
		}
		if err != nil {
			file.Close()
			return nil, fmt.Errorf("lock %s: %w", i.dir, err)
		}
		if sameFile(file, name) {
			return func() { _ = os.Remove(name); file.Close() }, nil
		}
		file.Close()
	}
}

func sameFile(file *os.File, name string) bool {
	held, err := file.Stat()
	if err != nil {
		return false
	}
	named, err := os.Stat(name)
	return err == nil && os.SameFile(held, named)
}
