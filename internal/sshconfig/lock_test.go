package sshconfig

import (
	"path/filepath"
	"testing"
	"time"
)

// A second run waits for the first one, and not for ever.
func TestLock(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a", "b")
	unlock, err := Lock(dir)
	if err != nil {
		t.Fatal(err)
	}
	if again, err := lockWithin(dir, 50*time.Millisecond); err == nil {
		again()
		t.Error("two have the lock")
	}
	locked := make(chan error)
	go func() {
		unlock, err := lockWithin(dir, time.Minute)
		if err == nil {
			unlock()
		}
		locked <- err
	}()
	unlock()
	if err := <-locked; err != nil {
		t.Error(err)
	}
}
