package sshconfig

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// lockTime is how long another process may change it: it writes two small files.
const lockTime = 5 * time.Second

// Lock waits until no other process changes what is in a directory. The file of it stays.
func Lock(dir string) (unlock func(), err error) { return lockWithin(dir, lockTime) }

func lockWithin(dir string, patience time.Duration) (unlock func(), err error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	f, err := os.OpenFile(filepath.Join(dir, ".lock"), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	again := time.NewTicker(patience / 100)
	defer again.Stop()
	for end := time.Now().Add(patience); ; <-again.C {
		err := lockFile(f)
		if err == nil {
			break
		}
		if !errors.Is(err, errLocked) || time.Now().After(end) {
			return nil, errors.Join(fmt.Errorf("lock %s: %w", f.Name(), err), f.Close())
		}
	}
	return func() { _ = f.Close() }, nil
}
