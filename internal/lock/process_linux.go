package lock

import (
	"bytes"
	"fmt"
	"os"
	"strings"
)

// processStart is the start time of a process in clock ticks since boot, field
// 22 of /proc/PID/stat. A zombie counts as ended.
func processStart(pid int) (started string, alive bool) {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return "", !os.IsNotExist(err)
	}
	// The command's name, in parentheses, may hold anything.
	end := bytes.LastIndexByte(stat, ')')
	fields := strings.Fields(string(stat[end+1:]))
	const state, start = 0, 19
	if len(fields) <= start {
		return "", true
	}
	return fields[start], fields[state] != "Z" && fields[state] != "X"
}

// bootID tells one boot of this host, and one process namespace, from another.
func bootID() string {
	boot, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return ""
	}
	id, _, _ := strings.Cut(string(boot), "-")
	ns, err := os.Readlink("/proc/self/ns/pid")
	if err != nil {
		return ""
	}
	return id + "." + strings.Trim(strings.TrimPrefix(ns, "pid:"), "[]")
}
