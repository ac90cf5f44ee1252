package dependency

import (
	"context"
	"io/fs"
	"path"
	"strings"

	"github.com/berthdev/berth/internal/bundle/content"
)

// build makes content of the tree: what there was, and in charts/ the charts that it depends on, as directories named
// by their names and versions. What the .helmignore of the chart leaves out is left out, and the file is empty then: it
// is not about the files of other charts, and counts for all that is in charts/ if they are directories.
func (g *gathering) build(ctx context.Context, root *node) (*content.Content, error) {
	b, err := content.NewBuilder(g.fetcher.Cache, g.fetcher.Limits)
	if err != nil {
		return nil, err
	}
	defer b.Discard()
	err = fs.WalkDir(root.files, ".", func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && name == root.dir:
			return fs.SkipDir
		case entry.IsDir():
			return ctx.Err()
		}
		return add(b, name, root.files, name)
	})
	if err == nil {
		err = root.place(ctx, b, root.dir, ".helmignore")
	}
	if err != nil {
		return nil, err
	}
	return b.Seal(ctx)
}

// place puts a chart into a directory, with one file empty, and what it depends on below that.
func (n *node) place(ctx context.Context, b *content.Builder, into, empty string) error {
	fsys, err := fs.Sub(n.files, n.dir)
	if err == nil {
		err = n.walk(ctx, fsys, func(name string) error {
			if err := ctx.Err(); err != nil {
				return err
			}
			if name == empty {
				return b.Add(path.Join(into, name), 0, strings.NewReader(""))
			}
			return add(b, path.Join(into, name), fsys, name)
		})
	}
	for _, child := range n.below {
		if err == nil {
			err = child.place(ctx, b, path.Join(into, "charts", child.into()), "")
		}
	}
	return err
}

// add copies a file.
func add(b *content.Builder, name string, fsys fs.FS, from string) error {
	file, err := fsys.Open(from)
	if err != nil {
		return err
	}
	defer func() { _ = file.Close() }()
	info, err := file.Stat()
	if err != nil {
		return err
	}
	return b.Add(name, info.Size(), file)
}
