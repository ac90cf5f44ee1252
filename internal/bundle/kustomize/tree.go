package kustomize

import (
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"slices"

	"sigs.k8s.io/kustomize/kyaml/filesys"
)

// root is where the files of a bundle are for kustomize. It is no root of a file system, above which ".." would lead
// back into it.
const root = "/bundle"

// tree is files as kustomize reads them. Nothing can be written to it.
type tree struct {
	files map[string][]byte   // by their absolute paths
	dirs  map[string][]string // what is in them
}

// add adds a file, which has a relative path.
func (t *tree) add(name string, content []byte) {
	name = path.Join(root, name)
	t.files[name] = content
	for dir := path.Dir(name); ; name, dir = dir, path.Dir(dir) {
		if base := path.Base(name); !slices.Contains(t.dirs[dir], base) {
			t.dirs[dir] = append(t.dirs[dir], base)
		}
		if dir == "/" {
			return
		}
	}
}

// clean is a path as the tree has it, whatever the system.
func clean(name string) string {
	return path.Join("/", filepath.ToSlash(name[len(filepath.VolumeName(name)):]))
}

// IsDir implements filesys.FileSystem.
func (t *tree) IsDir(name string) bool { return t.dirs[clean(name)] != nil }

// Exists implements filesys.FileSystem.
func (t *tree) Exists(name string) bool { return t.IsDir(name) || t.files[clean(name)] != nil }

// ReadDir implements filesys.FileSystem.
func (t *tree) ReadDir(name string) ([]string, error) {
	if !t.IsDir(name) {
		return nil, missing(name)
	}
	return t.dirs[clean(name)], nil
}

// CleanedAbs implements filesys.FileSystem.
func (t *tree) CleanedAbs(name string) (filesys.ConfirmedDir, string, error) {
	switch at := clean(name); {
	case t.IsDir(at):
		return filesys.ConfirmedDir(filepath.FromSlash(at)), "", nil
	case t.Exists(at):
		return filesys.ConfirmedDir(filepath.FromSlash(path.Dir(at))), path.Base(at), nil
	}
	return "", "", missing(name)
}

// ReadFile implements filesys.FileSystem.
func (t *tree) ReadFile(name string) ([]byte, error) {
	content, ok := t.files[clean(name)]
	if !ok {
		return nil, missing(name)
	}
	return content, nil
}

func missing(name string) error {
	if isText(name) { // what is meant itself, and may be secret
		return fs.ErrNotExist
	}
	return fmt.Errorf("%s: %w", clean(name), fs.ErrNotExist)
}

func readOnly(verb string) error { return fmt.Errorf("a kustomization is not to %s a file", verb) }

// Create implements filesys.FileSystem.
func (*tree) Create(string) (filesys.File, error) { return nil, readOnly("create") }

// Mkdir implements filesys.FileSystem.
func (*tree) Mkdir(string) error { return readOnly("create") }

// MkdirAll implements filesys.FileSystem.
func (*tree) MkdirAll(string) error { return readOnly("create") }

// RemoveAll implements filesys.FileSystem.
func (*tree) RemoveAll(string) error { return readOnly("remove") }

// Open implements filesys.FileSystem.
func (*tree) Open(string) (filesys.File, error) { return nil, readOnly("open") }

// Glob implements filesys.FileSystem: only kustomize's commands that edit use it.
func (*tree) Glob(string) ([]string, error) { return nil, readOnly("search for") }

// WriteFile implements filesys.FileSystem.
func (*tree) WriteFile(string, []byte) error { return readOnly("write") }

// Walk implements filesys.FileSystem: only kustomize's commands that edit use it.
func (*tree) Walk(string, filepath.WalkFunc) error { return readOnly("search for") }
