// Package process finds and ends processes by their command line, without the
// risk of hitting another one that was given the same number since.
package process

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// Find returns the numbers of the processes with exactly these arguments.
func Find(args []string) ([]int, error) {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return nil, err
	}
	var found []int
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err == nil && is(pid, args) {
			found = append(found, pid)
		}
	}
	return found, nil
}

// Kill ends process pid if it still has these arguments, and returns once it
// is gone.
//
// The order makes a recycled number harmless: the handle is taken first, the
// arguments are compared after that, and the signal goes to the handle.
func Kill(pid int, args []string, timeout time.Duration) error {
	handle, err := unix.PidfdOpen(pid, 0)
	if errors.Is(err, unix.ESRCH) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("open process %d: %w", pid, err)
	}
	defer unix.Close(handle)
	if !is(pid, args) {
		return nil
	}
	err = unix.PidfdSendSignal(handle, unix.SIGKILL, nil, 0)
	if err != nil && !errors.Is(err, unix.ESRCH) {
		return fmt.Errorf("kill process %d: %w", pid, err)
	}
	return wait(handle, pid, timeout)
}

// wait returns once the process has exited. A handle becomes readable then,
// even if the parent never asks for the exit status.
func wait(handle, pid int, timeout time.Duration) error {
	deadline := time.Now().Add(timeout)
	for {
		left := time.Until(deadline)
		if left <= 0 {
			return fmt.Errorf("process %d is still there %s after SIGKILL", pid, timeout)
		}
		poll := []unix.PollFd{{Fd: int32(handle), Events: unix.POLLIN}}
		n, err := unix.Poll(poll, int(left.Milliseconds())+1)
		if err != nil && !errors.Is(err, unix.EINTR) {
			return fmt.Errorf("wait for process %d: %w", pid, err)
		}
		if n > 0 {
			return nil
		}
	}
}

// is compares arguments; those of a zombie read as empty.
func is(pid int, args []string) bool {
	line, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
	return err == nil && string(line) == strings.Join(args, "\x00")+"\x00"
}
