//go:build !windows

package terminal

import (
	"os"
	"os/signal"
	"syscall"
)

// resizes tells when the terminal's size may have changed.
func resizes() (changed <-chan os.Signal, stop func()) {
	c := make(chan os.Signal, 1)
	signal.Notify(c, syscall.SIGWINCH)
	return c, func() { signal.Stop(c) }
}
