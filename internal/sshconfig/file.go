package sshconfig

import (
	"bytes"
	"cmp"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/berthdev/berth/internal/fault"
)

// Change is what becomes of one file.
type Change struct {
	Path     string // of the file itself, links followed
	Old, New []byte // nil where there is no file
	mode     fs.FileMode
	linked   bool
}

// maxFile is more than any configuration has, in bytes.
const maxFile = 1 << 20

// Read reads a file that may not be there.
func Read(path string) (Change, error) {
	c := Change{Path: path}
	target, err := followed(path)
	if err != nil {
		return c, err
	}
	c.linked, c.Path = target != path, target
	info, err := os.Stat(target)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return c, nil
	case err != nil:
		return c, err
	case !info.Mode().IsRegular() || info.Size() > maxFile:
		return c, fault.New(fault.Conflict, "%s is not a configuration of ssh", target)
	}
	c.mode = info.Mode().Perm()
	c.Old, err = os.ReadFile(target) //nolint:gosec // the user's own
	if c.Old == nil {
		c.Old = []byte{}
	}
	c.New = c.Old
	return c, err
}

// maxLinks is how many links may follow each other.
const maxLinks = 40

// followed is the path at the end of links, which need not be there yet.
func followed(path string) (string, error) {
	for range maxLinks {
		to, err := os.Readlink(path)
		if err != nil { // not a link, or nothing is there
			return path, nil //nolint:nilerr // which is an answer
		}
		if !filepath.IsAbs(to) {
			to = filepath.Join(filepath.Dir(path), to)
		}
		path = to
	}
	return path, fault.New(fault.Conflict, "%s has too many links", path)
}

// None is true for a change that changes nothing.
func (c Change) None() bool { return bytes.Equal(c.Old, c.New) && (c.Old == nil) == (c.New == nil) }

// Linked is true for a file that a link leads to.
func (c Change) Linked() bool { return c.linked }

// Removes is true for a change that leaves no file.
func (c Change) Removes() bool { return len(c.New) == 0 && !c.linked }

// Write writes the file at once and whole: another reader sees the old one or the new one. A file that is left empty is
// removed, unless a link leads to it.
func (c Change) Write() error {
	if c.Removes() {
		if err := os.Remove(c.Path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		return nil
	}
	dir := filepath.Dir(c.Path)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	f, err := os.CreateTemp(dir, "."+filepath.Base(c.Path)+".*")
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(f.Name()) }()
	_, err = f.Write(c.New)
	err = errors.Join(err, f.Chmod(cmp.Or(c.mode, 0o600)), f.Sync())
	if err := errors.Join(err, f.Close()); err != nil {
		return err
	}
	return os.Rename(f.Name(), c.Path)
}
