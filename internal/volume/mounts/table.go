//go:build linux

// Package mounts mounts directories, and knows from the mount table what is mounted where.
package mounts

import (
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"

	mount "k8s.io/mount-utils"
)

// Table is the mount table at one moment.
type Table []mount.MountInfo

// Read reads that of the process.
func Read() (Table, error) { return read("/proc/self/mountinfo") }

func read(file string) (Table, error) {
	all, err := mount.ParseMountInfo(file)
	if err != nil {
		return nil, fmt.Errorf("cannot read the mount table: %w", err)
	}
	for i := range all {
		all[i].Root, all[i].MountPoint = unescape(all[i].Root), unescape(all[i].MountPoint)
	}
	return all, nil
}

// unescape undoes what the kernel does to spaces and to what else divides fields.
func unescape(field string) string {
	if !strings.Contains(field, `\`) {
		return field
	}
	var out strings.Builder
	for i := 0; i < len(field); i++ {
		if field[i] == '\\' && i+3 < len(field) {
			if code, err := strconv.ParseUint(field[i+1:i+4], 8, 8); err == nil {
				out.WriteByte(byte(code))
				i += 3
				continue
			}
		}
		out.WriteByte(field[i])
	}
	return out.String()
}

// At is what is mounted at a path, the topmost mount; false if nothing is.
func (t Table) At(at string) (mount.MountInfo, bool) {
	for _, m := range slices.Backward(t) {
		if m.MountPoint == at {
			return m, true
		}
	}
	return mount.MountInfo{}, false
}

// Origin is where a directory is: in which file system, and where in it.
type Origin struct {
	Major, Minor int
	Path         string
}

// Origin finds that of a directory, which is a path without symbolic links.
func (t Table) Origin(dir string) (Origin, bool) {
	for at := dir; ; at = path.Dir(at) {
		if m, ok := t.At(at); ok {
			return Origin{m.Major, m.Minor, path.Join(m.Root, strings.TrimPrefix(dir, at))}, true
		}
		if at == "/" || at == "." {
			return Origin{}, false
		}
	}
}

// Of are the places where a directory, or what is in it, is mounted, and those in it where
// something else is. A directory whose place is unknown has none that could be excluded, which is an error.
func (t Table) Of(dir string) ([]string, error) {
	origin, ok := t.Origin(dir)
	if !ok {
		return nil, fmt.Errorf("the mount table does not have %s", dir)
	}
	var at []string
	for _, m := range t {
		mounted := m.Major == origin.Major && m.Minor == origin.Minor && within(strings.TrimSuffix(m.Root, "//deleted"), origin.Path)
		if mounted || within(m.MountPoint, dir) {
			at = append(at, m.MountPoint)
		}
	}
	return at, nil
}

// Is says whether what is mounted at a path is this directory.
func (t Table) Is(dir, at string) bool {
	origin, known := t.Origin(dir)
	m, mounted := t.At(at)
	return known && mounted && origin == Origin{m.Major, m.Minor, m.Root}
}

// within says whether a path is a directory or something in it.
func within(p, dir string) bool {
	return p == dir || strings.HasPrefix(p, strings.TrimSuffix(dir, "/")+"/")
}
