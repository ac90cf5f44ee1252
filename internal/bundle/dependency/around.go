package dependency

import (
	"context"
	"io/fs"
	"os"
	"path"
	"strings"

	"github.com/berthdev/berth/api/bundle/v1alpha1"
	"github.com/berthdev/berth/internal/bundle/source"
)

// around is what content is a part of: the DIRECTORY of DIRECTORY//PART on this machine, or the commit of a git source.
// Charts of one repository depend on each other by their paths, and those above the part are found there, and nowhere
// outside of it.
type around struct {
	dir string // of the content

	root  *os.Root // on this machine
	files fs.FS

	commit *source.Commit
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
	return &around{dir: path.Clean(dir), root: root, files: regular{root.FS()}}, nil
}

// aroundIn is that of what was fetched of a source; nil if that is all there is.
func aroundIn(commit *source.Commit, s v1alpha1.Source) *around {
	if s.Type != v1alpha1.SourceGit || path.Join(s.Git.Directory) == "" {
		return nil
	}
	return &around{dir: path.Clean(s.Git.Directory), commit: commit}
}

func (a *around) close() {
	if a != nil && a.root != nil {
		_ = a.root.Close()
	}
}

// place is where a path leads from a chart, around the content that it is in; false if that is nowhere.
func (a *around) place(n *node, to string) (place string, ok bool) {
	if a == nil || path.IsAbs(to) {
		return "", false
	}
	place = path.Join(n.base, n.dir, to)
	return place, isInside(place)
}

// fill makes a node of what is at a place.
func (a *around) fill(ctx context.Context, g *gathering, n *node, place string) error {
	if a.commit == nil {
		n.files, n.dir, n.of, n.base = a.files, place, "around", ""
		return nil
	}
	key := wanted{name: place, repository: "file://"}
	c := g.fetched[key]
	if c == nil {
		f, err := g.spent.bound(g.fetcher)
		if err != nil {
			return err
		}
		if c, err = a.commit.Directory(ctx, f, place); err != nil {
			return err
		}
		g.spent.add(c)
		g.fetched[key] = c
	}
	n.files, n.dir, n.of, n.base = c.FS(), ".", c.Digest, place
	return nil
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
