package copy

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/berthdev/berth/internal/fault"
)

// kind is what a source is.
type kind string

func (k kind) isTree() bool { return k == kindDir || k == kindContents }

// target is where something arrives on this machine.
type target struct {
	dir   string // in which the temporary directory is
	name  string // of what arrives, in dir
	merge bool   // what arrives is added to the directory dir, which exists
}

// path is what arrived is called.
func (t target) path() string { return filepath.Join(t.dir, t.name) }

// final is where an entry of the tree is in the end, in dir.
func (t target) final(name string) string {
	rest, _ := filepath.Rel(tree, filepath.FromSlash(name))
	if t.merge {
		return rest
	}
	return filepath.Join(t.name, rest)
}

// targetOf decides where a source goes, as cp does: into a directory that exists, or
// under a new name. Scripts/receive.sh decides the same for the other end.
func targetOf(dst, name string, k kind) (target, error) {
	if info, err := os.Stat(dst); err == nil && info.IsDir() {
		return inside(dst, name, k)
	}
	if dst == "" || os.IsPathSeparator(dst[len(dst)-1]) && !k.isTree() {
		return target{}, fault.New(fault.NotFound, "directory %q does not exist", dst).
			WithHint("create it, or leave out the slash at the end")
	}
	if _, err := os.Lstat(dst); err == nil && k.isTree() {
		return target{}, notDirectory(dst)
	}
	t := target{dir: filepath.Dir(filepath.Clean(dst)), name: filepath.Base(filepath.Clean(dst))}
	if info, err := os.Stat(t.dir); err != nil || !info.IsDir() {
		return target{}, fault.New(fault.NotFound, "directory %s does not exist", t.dir).
			WithHint("create it: %s", fault.Command("mkdir", "-p", t.dir))
	}
	return t, nil
}

// inside is the target in a directory that exists.
func inside(dir, name string, k kind) (target, error) {
	if k == kindContents {
		return target{dir: dir, merge: true}, nil
	}
	at := filepath.Join(dir, name)
	info, err := os.Lstat(at)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return target{dir: dir, name: name}, nil
	case err != nil:
		return target{}, cannot("read", at, err)
	case k == kindDir && info.IsDir():
		return target{dir: at, merge: true}, nil
	case k == kindDir:
		return target{}, notDirectory(at)
	case info.IsDir():
		return target{}, isDirectory(at)
	}
	return target{dir: dir, name: name}, nil
}

// VacantHere is Vacant on this machine.
func VacantHere(path string) error {
	if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	dir, err := os.Open(path)
	if err != nil {
		return cannot("read", path, err)
	}
	defer dir.Close()
	switch names, err := dir.Readdirnames(1); {
	case len(names) > 0:
		return occupied(path)
	case errors.Is(err, io.EOF):
		return nil
	}
	return notDirectory(path)
}

const (
	kindFile     kind = "file"
	kindLink     kind = "link"
	kindDir      kind = "dir"
	kindContents kind = "contents" // of a directory
)

func notDirectory(path string) error {
	return fault.New(fault.Conflict, "%s exists and is not a directory", path).
		WithHint("choose another destination, or remove it")
}

func isDirectory(path string) error {
	return fault.New(fault.Conflict, "%s is a directory, and a file cannot take its place", path).
		WithHint("choose another destination, or remove it")
}

// cannot is the error of what cannot be read or written on this machine. Those of a root
// name a file below it, or below a temporary directory, which says nothing to a user.
func cannot(do, path string, err error) error {
	if err == nil || fault.CodeOf(err) != fault.Internal {
		return err
	}
	code := fault.Failed
	if errors.Is(err, fs.ErrNotExist) {
		code = fault.NotFound
	}
	if of, ok := errors.AsType[*fs.PathError](err); ok {
		err = of.Err
	} else if of, ok := errors.AsType[*os.LinkError](err); ok {
		err = of.Err
	}
	return fault.New(code, "cannot %s %s on this machine: %w", do, path, err)
}
