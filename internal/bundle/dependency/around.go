package dependency

import (
	"io/fs"
	"os"
	"path"
	"strings"

	"github.com/berthdev/berth/internal/bundle/source"
)

// around is the directory that SOURCE//DIR is a part of: charts of one repository depend on each other by their paths,
// and those above DIR are found there, and nowhere outside of it.
type around struct {
	root  *os.Root
	files fs.FS
	dir   string // of the content
}

// aroundOf is that of a path on this machine; nil if it is no part of a directory.
func aroundOf(name string) (*around, error) {
	base, dir, is := source.PartOf(name)
	if !is {
		return nil, nil
	}
	root, err := os.OpenRoot(base)
	if err != nil {
		return nil, err
	}
	return &around{root, regular{root.FS()}, path.Clean(dir)}, nil
}

func (a *around) close() {
	if a != nil {
		_ = a.root.Close()
	}
}

// find finds where a path leads from a chart, in its own files or around them; false if it leads out of both.
func (a *around) find(n *node, to string) (files fs.FS, dir string, ok bool) {
	dir = path.Join(n.dir, to)
	switch {
	case path.IsAbs(to):
		return nil, "", false
	case isInside(dir):
		return n.files, dir, true
	case a == nil || n.around != a || n.files == a.files:
		return nil, "", false
	}
	dir = path.Join(a.dir, n.dir, to)
	return a.files, dir, isInside(dir)
}

func isInside(dir string) bool { return dir != ".." && !strings.HasPrefix(dir, "../") }

// regular opens nothing but files and directories: a pipe or a device would block.
type regular struct{ fs.FS }

// Open implements fs.FS.
func (r regular) Open(name string) (fs.File, error) {
	info, err := fs.Stat(r.FS, name)
	if err == nil && !info.IsDir() && !info.Mode().IsRegular() {
		err = &fs.PathError{Op: "open", Path: name, Err: fs.ErrInvalid}
	}
	if err != nil {
		return nil, err
	}
	return r.FS.Open(name)
}
