// Package cgroup makes and removes the control group below which one cluster
// keeps all of its pods.
package cgroup

import (
	"bufio"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

const mountpoint = "/sys/fs/cgroup"

// Unified tells cgroup v2 from v1 (with or without a v2 hierarchy beside it).
func Unified() (bool, error) {
	var stat unix.Statfs_t
	if err := unix.Statfs(mountpoint, &stat); err != nil {
		return false, fmt.Errorf("look at %s: %w", mountpoint, err)
	}
	return stat.Type == unix.CGROUP2_SUPER_MAGIC, nil
}

// Create makes the group in every hierarchy: a kubelet given a cgroupRoot
// wants it to exist.
func Create(name string) error {
	unified, err := Unified()
	if err != nil {
		return err
	}
	if unified {
		if err := delegate(mountpoint); err != nil {
			return err
		}
	}
	roots, err := hierarchies()
	if err != nil {
		return err
	}
	for _, root := range roots {
		dir := filepath.Join(root, name)
		if err := os.Mkdir(dir, 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
			return fmt.Errorf("make control group: %w", err)
		}
	}
	return nil
}

// delegate hands every controller of a v2 group on to the groups below it.
func delegate(dir string) error {
	available, err := os.ReadFile(filepath.Join(dir, "cgroup.controllers"))
	if err != nil {
		return err
	}
	for c := range strings.FieldsSeq(string(available)) {
		err := os.WriteFile(filepath.Join(dir, "cgroup.subtree_control"), []byte("+"+c), 0o644)
		if err != nil && slices.Contains([]string{"cpu", "memory", "pids", "cpuset"}, c) {
			return fmt.Errorf("hand the %s controller on to groups below %s: %w", c, dir, err)
		}
	}
	return nil
}

// Remove takes the group away in every hierarchy, with all groups below it.
// Its processes must have been ended; the kernel may need a moment longer to
// notice, which Remove waits for.
func Remove(name string, timeout time.Duration) error {
	roots, err := hierarchies()
	if err != nil {
		return err
	}
	deadline := time.Now().Add(timeout)
	for _, root := range roots {
		for {
			err := removeTree(filepath.Join(root, name))
			if err == nil {
				break
			}
			if time.Now().After(deadline) {
				return fmt.Errorf("remove control group: %w", err)
			}
			time.Sleep(20 * time.Millisecond)
		}
	}
	return nil
}

// Exists says whether the group is there in any hierarchy.
func Exists(name string) (bool, error) {
	roots, err := hierarchies()
	if err != nil {
		return false, err
	}
	return slices.ContainsFunc(roots, func(root string) bool {
		_, err := os.Stat(filepath.Join(root, name))
		return err == nil
	}), nil
}

// removeTree removes groups from the leaves up; their files go with them.
func removeTree(dir string) error {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	for _, e := range entries {
		if e.IsDir() {
			if err := removeTree(filepath.Join(dir, e.Name())); err != nil {
				return err
			}
		}
	}
	err = os.Remove(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

func hierarchies() ([]string, error) {
	file, err := os.Open("/proc/self/mounts")
	if err != nil {
		return nil, err
	}
	defer file.Close()
	var roots []string
	for lines := bufio.NewScanner(file); lines.Scan(); {
		fields := strings.Fields(lines.Text())
		if len(fields) > 2 && strings.HasPrefix(fields[2], "cgroup") && strings.HasPrefix(fields[1], mountpoint) {
			roots = append(roots, fields[1])
		}
	}
	if len(roots) == 0 {
		return nil, fmt.Errorf("no control groups are mounted below %s: the kubelet cannot do without", mountpoint)
	}
	return roots, nil
}
