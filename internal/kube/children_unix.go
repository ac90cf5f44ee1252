//go:build !windows

package kube

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// endChildren ends what this process has started, and what that has: client-go hands out no credential plugin that it
// runs, and one that hangs would keep standard error open, or the terminal. It is in the process group of this program,
// as kubectl's are, so that Ctrl-C has reached it already; a time-out or SIGTERM has not.
func endChildren() {
	for _, pid := range descendants(processes(), os.Getpid()) {
		_ = syscall.Kill(pid, syscall.SIGTERM) // it may be gone already
	}
}

// processes are lines of the numbers of all processes and of their parents. Linux has them in files, others have ps.
func processes() string {
	if files, _ := filepath.Glob("/proc/[0-9]*/stat"); len(files) > 0 {
		var list strings.Builder
		for _, file := range files {
			text, _ := os.ReadFile(file) // a process that is gone has none
			pid, _, _ := strings.Cut(string(text), " ")
			rest := string(text[strings.LastIndexByte(string(text), ')')+1:]) // behind its name: state, parent
			if fields := strings.Fields(rest); len(fields) > 1 {
				list.WriteString(pid + " " + fields[1] + "\n")
			}
		}
		return list.String()
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	list, _ := exec.CommandContext(ctx, "ps", "-A", "-o", "pid=,ppid=").Output() // without ps they are left
	return string(list)
}

// descendants are the processes that a process has started, and so on.
func descendants(list string, of int) (all []int) {
	children := map[int][]int{}
	for line := range strings.Lines(list) {
		var pid, parent int
		if _, err := fmt.Sscan(line, &pid, &parent); err == nil && pid != parent {
			children[parent] = append(children[parent], pid)
		}
	}
	for next := children[of]; len(next) > 0; {
		pid := next[0]
		all, next = append(all, pid), append(next[1:], children[pid]...)
	}
	return all
}
