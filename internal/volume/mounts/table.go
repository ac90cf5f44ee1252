//go:build linux

// Package mounts mounts directories, and knows from the mount table what is mounted where.
package mounts

import (
	"bytes"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/moby/sys/mountinfo"
	utilio "k8s.io/utils/io"
)

// Table is the mount table at one moment.
type Table []*mountinfo.Info

// readings is how often the table is read until it is the same twice. It is longer than
// what the kernel gives at once, and changes meanwhile.
const readings = 10

// Read reads that of the process.
func Read() (Table, error) { return read("/proc/self/mountinfo") }

func read(file string) (Table, error) {
	text, err := utilio.ConsistentRead(file, readings)
	if err != nil {
		return nil, fmt.Errorf("cannot read the mount table: %w", err)
	}
	all, err := mountinfo.GetMountsFromReader(bytes.NewReader(text), nil)
	if err != nil {
		return nil, fmt.Errorf("cannot read the mount table: %w", err)
	}
	return all, nil
}

// At is what is mounted at a path, the topmost mount; false if nothing is.
func (t Table) At(at string) (*mountinfo.Info, bool) {
	for _, m := range slices.Backward(t) {
		if m.Mountpoint == at {
			return m, true
		}
	}
	return nil, false
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
		mounted := m.Major == origin.Major && m.Minor == origin.Minor &&
			within(strings.TrimSuffix(m.Root, "//deleted"), origin.Path)
		if mounted || within(m.Mountpoint, dir) {
			at = append(at, m.Mountpoint)
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
