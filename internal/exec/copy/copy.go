// Package copy copies files to and from where a command can be run: as a tar stream through the command's standard
// input or output. What arrives has a temporary name beside its final one, and gets that when it is complete and
// checked, so that nothing half has a final name, however a copy ends. It knows of the other end that it is an
// exec.Runner, a shell and a tar.
package copy

import (
	"crypto/rand"
	"fmt"
	"path"
	"strings"
	"sync/atomic"

	"github.com/berthdev/berth/internal/fault"
)

// Temporary begins the names of directories that receive something: the name of one
// that a killed run has left says what it is.
const Temporary = ".berth-cp-"

// Result is what was copied.
type Result struct {
	Path  string // what it is called at its destination
	Files int64  // links and directories are not counted
	Bytes int64
	// Warnings are what was noticed on the way and does not make the copy a wrong one.
	Warnings []string
}

// Meter counts what was copied so far. It can be read while that goes on.
type Meter struct {
	Bytes, Files atomic.Int64
	// TotalBytes is how many there will be; 0 if that is not known.
	TotalBytes atomic.Int64
}

func (m *Meter) result(path string, warnings []string) Result {
	return Result{Path: path, Files: m.Files.Load(), Bytes: m.Bytes.Load(), Warnings: warnings}
}

// token is a part of a name that nobody else has.
func token() string { return rand.Text()[:10] }

// maxPath is how long the name of an entry may be, in bytes: what Linux has for a path.
const maxPath = 4096

// tree is what is copied, in the temporary directory.
const tree = "tree"

// source is a path at the other end: what is sent of it, and what it is called.
type source struct {
	dir, base string // base is a dot for all that is in dir
	name      string // empty for contents, which have none
}

// sourceOf takes a path apart, as cp does: of a path that ends in a dot the contents are
// meant; with a slash at its end a link is what it points to.
func sourceOf(name string) source {
	trimmed := strings.TrimRight(name, "/")
	base := path.Base(trimmed)
	switch {
	case trimmed == "" && name != "":
		return source{dir: "/", base: "."}
	case trimmed == "" || base == "." || base == "..":
		return source{dir: anchored(trimmed), base: "."}
	case trimmed != name:
		return source{dir: anchored(trimmed), base: ".", name: base}
	}
	dir, _ := path.Split(trimmed)
	return source{dir: anchored(dir), base: base, name: base}
}

// anchored makes a path that no program takes for an option.
func anchored(name string) string {
	if path.IsAbs(name) {
		return name
	}
	return "./" + name
}

// within is the name that an entry of a stream gets below the temporary directory. Every
// entry has to be what was asked for, or in it.
func (s source) within(name string) (string, error) {
	switch {
	case len(name) > maxPath:
		return "", refuse(name[:64]+"…", "its name has %d bytes, at most %d are accepted", len(name), maxPath)
	case strings.ContainsRune(name, 0):
		return "", refuse(name, "its name has a null character")
	case path.IsAbs(name):
		return "", refuse(name, "its name is absolute")
	}
	var parts []string
	for part := range strings.SplitSeq(name, "/") {
		switch part {
		case "", ".":
		case "..":
			return "", refuse(name, "its name climbs out with ..")
		default:
			parts = append(parts, part)
		}
	}
	if s.base != "." {
		if len(parts) == 0 || parts[0] != s.base {
			return "", refuse(name, "it is not in %s", s.base)
		}
		parts = parts[1:]
	}
	return path.Join(append([]string{tree}, parts...)...), nil
}

// leadsOut says whether a link may lead out of what is copied, whatever the links on the
// way are: it may go up first, and then only down.
func leadsOut(name, target string) bool {
	if path.IsAbs(target) || target == "" {
		return true
	}
	depth, down := strings.Count(name, "/")-1, false
	for part := range strings.SplitSeq(target, "/") {
		switch part {
		case "", ".":
		case "..":
			depth--
			if down || depth < 0 {
				return true
			}
		default:
			down = true
		}
	}
	return depth < 0
}

// refuse is the error of an entry that is not written.
func refuse(name, format string, args ...any) *fault.Error {
	return fault.New(fault.Failed, "refused %q from the other end: %s", name, fmt.Sprintf(format, args...))
}
