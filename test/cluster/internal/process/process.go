// Package process finds and ends processes by their command line, without the
// risk of hitting another one that was given the same number since.
package process

import (
	"bytes"
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
	has := HasArgs(args)
	var found []int
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err == nil && has(pid) {
			found = append(found, pid)
		}
	}
	return found, nil
}

// Kill ends process pid if it is still the one meant, and returns once it is
// gone.
//
// The order makes a recycled number harmless: the handle is taken first, the
// process is looked at after that, and the signal goes to the handle.
func Kill(pid int, meant func(pid int) bool, timeout time.Duration) error {
	handle, err := unix.PidfdOpen(pid, 0)
	if errors.Is(err, unix.ESRCH) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("open process %d: %w", pid, err)
	}
	defer unix.Close(handle)
	if !meant(pid) {
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

// HasArgs recognizes a process by its arguments; those of one that is about to
// end, or was started this very moment, read as empty.
func HasArgs(args []string) func(pid int) bool {
	want := strings.Join(args, "\x00") + "\x00"
	return func(pid int) bool {
		line, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
		return err == nil && string(line) == want
	}
}

// StartedAt recognizes a process by its start time, up to its very end.
func StartedAt(start string) func(pid int) bool {
	return func(pid int) bool {
		actual, err := StartTime(pid)
		return err == nil && actual == start
	}
}

// StartTime returns when a process was started, in ticks since the machine
// was.
func StartTime(pid int) (string, error) {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return "", err
	}
	// The second field is the name in parentheses, with any characters in it.
	_, rest, _ := strings.Cut(string(data[bytes.LastIndexByte(data, ')')+1:]), " ")
	fields := strings.Fields(rest)
	const startTime = 22 - 3 // the fields are counted from 1, and two are gone
	if len(fields) <= startTime {
		return "", fmt.Errorf("process %d: cannot read its start time from %q", pid, data)
	}
	return fields[startTime], nil
}
