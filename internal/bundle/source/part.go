package source

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/bundle/content"
	"github.com/berthdev/berth/internal/bundle/kustomize"
	"github.com/berthdev/berth/internal/bundle/signature"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/git"
)

// A part of a tree, //DIRECTORY, is that directory. Of a kustomization that refers to others above it, it is these as
// well, and no more: each in its place, with a kustomization at the root that leads to the one of the directory. So
// what else changes in a repository changes no bundle.

// cutDirectory takes a path apart into a directory and a part of it, with two slashes between them.
func cutDirectory(name string) (base, dir string, isPart bool) {
	if len(name) < 2 {
		return name, "", false
	}
	base, dir, isPart = strings.Cut(name[1:], "//") // it may begin with two slashes
	dir = strings.Trim(dir, "/")
	return name[:1] + base, dir, isPart && dir != ""
}

// PartOf takes DIRECTORY//PART apart, as Local reads it; false for anything else.
func PartOf(name string) (base, dir string, is bool) {
	if name == Stdin {
		return name, "", false
	}
	return cutDirectory(name)
}

// part makes content of a part of a directory. Nothing outside of that is read.
func (f Fetcher) part(ctx context.Context, base, dir string) (*content.Content, error) {
	if !isInside(dir) {
		return nil, fault.New(fault.InvalidArgument, "directory %q is not in %s", dir, base)
	}
	root, err := os.OpenRoot(base)
	if err != nil {
		return nil, localFault(err)
	}
	defer root.Close()
	if info, err := root.Stat(filepath.FromSlash(dir)); err == nil && info.Mode().IsRegular() {
		return f.partFile(ctx, root, base, dir)
	}
	parts, err := kustomize.Find(ctx, dir, func(name string) ([]byte, error) { return readLocal(root, name) })
	switch {
	case err != nil:
		return nil, localFault(err)
	case parts.Root == nil:
		return f.partDirectory(ctx, root, base, dir)
	}
	f.tell(v1.Progress{Message: "Reading " + base})
	c, err := f.build(ctx, func(b *content.Builder) error {
		for _, part := range parts.Dirs {
			if err := addTree(ctx, b, root, part); err != nil {
				return err
			}
		}
		return addRoot(b, parts)
	})
	return c, within(base, err)
}

// partDirectory makes content of a directory that has all of its own: no link leads to it out of the root.
func (f Fetcher) partDirectory(ctx context.Context, root *os.Root, base, dir string) (*content.Content, error) {
	name := filepath.Join(base, filepath.FromSlash(dir))
	part, err := root.OpenRoot(filepath.FromSlash(dir))
	if at, ok := errors.AsType[*fs.PathError](err); ok {
		return nil, localFault(&fs.PathError{Op: at.Op, Path: name, Err: at.Err})
	}
	if err != nil {
		return nil, err
	}
	defer part.Close()
	return f.tree(ctx, part, name)
}

// partFile makes content of a file: two slashes in its path, as of "$OUT//bundle.tgz", are then as good as one.
func (f Fetcher) partFile(ctx context.Context, root *os.Root, base, name string) (*content.Content, error) {
	file, err := root.Open(filepath.FromSlash(name))
	if err != nil {
		return nil, localFault(err)
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return nil, localFault(err)
	}
	return f.archive(ctx, filepath.Join(base, filepath.FromSlash(name)), file, info.Size(),
		signature.Archive{})
}

// addRoot takes the kustomization that leads to that of the part.
func addRoot(b *content.Builder, parts kustomize.Parts) error {
	return b.Add(kustomize.RootName, int64(len(parts.Root)), bytes.NewReader(parts.Root))
}

// readLocal reads a file in which a kustomization may be; fs.ErrNotExist if it cannot be one.
func readLocal(root *os.Root, name string) ([]byte, error) {
	info, err := root.Stat(filepath.FromSlash(name))
	if err != nil || !info.Mode().IsRegular() {
		return nil, fs.ErrNotExist
	}
	file, err := root.Open(filepath.FromSlash(name))
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return io.ReadAll(io.LimitReader(file, kustomize.MaxFile+1))
}

// gitParts finds what of a commit belongs to a directory.
func gitParts(ctx context.Context, snapshot *git.Snapshot, dir string) (kustomize.Parts, error) {
	if dir == "" || path.Clean(dir) == "." || !fs.ValidPath(path.Clean(dir)) {
		return kustomize.Parts{Dirs: []string{dir}}, nil // all of it; or an error that is explained where it is read
	}
	return kustomize.Find(ctx, dir, func(name string) ([]byte, error) {
		text, err := snapshot.ReadFile(ctx, name)
		if fault.CodeOf(err) == fault.InvalidArgument && !errors.Is(err, fs.ErrNotExist) {
			return nil, fs.ErrNotExist // a directory, or a file that is too large
		}
		return text, err
	})
}

// placed gives files of a directory the paths that they have in a tree.
type placed struct {
	dir string
	to  git.Files
}

// Add implements git.Files.
func (p placed) Add(name string, size int64, r io.Reader) error {
	return p.to.Add(path.Join(p.dir, name), size, r)
}

// Link implements git.Files.
func (p placed) Link(name, target string) error { return p.to.Link(path.Join(p.dir, name), target) }
