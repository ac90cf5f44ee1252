package format

import (
	"context"
	"io/fs"

	"github.com/berthdev/berth/internal/chart"
	"github.com/berthdev/berth/internal/fault"
)

// chartOf is the one chart of a bundle.
func chartOf(fsys fs.FS) (fs.FS, error) {
	entries, err := fs.ReadDir(fsys, ".")
	if err != nil {
		return nil, unreadable(".", err)
	}
	dirs := chartDirs(fsys, entries)
	if len(dirs) != 1 {
		return nil, fault.New(fault.InvalidArgument, "the bundle has %d charts, not one", len(dirs)).
			WithHint("a chart has a Chart.yaml at the root of the bundle or in one directory there")
	}
	sub, err := fs.Sub(fsys, dirs[0])
	if err != nil {
		return nil, unreadable(dirs[0], err)
	}
	return sub, nil
}

// loadHelm renders the one chart of a bundle.
func loadHelm(ctx context.Context, fsys fs.FS, o Options) (*Package, error) {
	sub, err := chartOf(fsys)
	if err != nil {
		return nil, err
	}
	r, err := chart.Load(ctx, sub, chart.Options{
		Release: chart.Release{Name: o.Instance, Namespace: o.Namespace, Revision: o.Revision, Upgrade: o.Upgrade},
		Values:  o.Values, Lookup: o.Lookup, Capabilities: o.Capabilities,
		Time: o.RenderTime, Memory: o.RenderMemory,
	})
	if err != nil {
		return nil, err
	}
	return &Package{
		Format: Helm, Name: r.Chart.Name(), Version: r.Chart.Metadata.Version,
		Objects: r.Objects, Hooks: r.Hooks, Notes: r.Notes, Chart: r.Chart, Values: r.Values, Warnings: r.Warnings,
		manifest: r.Manifest,
	}, nil
}
