package format

import (
	"context"
	"io"
	"io/fs"
	"path"

	"github.com/berthdev/berth/internal/chart/manifest"
	"github.com/berthdev/berth/internal/fault"
)

// manifestsDir holds the objects of a bundle that is no chart.
const manifestsDir = "manifests"

// loadPlain reads manifests as they are: nothing in them is a template.
func loadPlain(ctx context.Context, fsys fs.FS, o Options) (*Package, error) {
	reader := &manifest.Reader{Namespace: o.Namespace, Repeats: true, Fits: true, Newer: o.Capabilities.Newer()}
	if err := readManifests(ctx, fsys, reader); err != nil {
		return nil, err
	}
	objects, _ := reader.Objects()
	problems := reader.Problems()
	if len(objects) == 0 && len(problems) == 0 {
		problems = []string{manifestsDir + "/: holds no object"}
	}
	if len(problems) > 0 {
		return nil, invalid(Plain, problems)
	}
	return &Package{Format: Plain, Objects: objects, Warnings: reader.Warnings()}, nil
}

// readManifests reads every file of the flat directory of manifests.
func readManifests(ctx context.Context, fsys fs.FS, reader *manifest.Reader) error {
	entries, err := fs.ReadDir(fsys, manifestsDir)
	if err != nil {
		return unreadable(manifestsDir, err)
	}
	for _, entry := range entries {
		if err := ctx.Err(); err != nil {
			return err
		}
		name := path.Join(manifestsDir, entry.Name())
		switch {
		case entry.IsDir():
			reader.Problem(name+"/", 0, "manifests/ must be flat: move its files up")
			continue
		case !entry.Type().IsRegular():
			reader.Problem(name, 0, "not a regular file")
			continue
		}
		text, err := readFile(fsys, name, manifest.MaxBytes)
		if err != nil {
			return err
		}
		reader.Read(name, text)
	}
	return nil
}

// readFile reads a file, but little more than most bytes: its size may be anything.
func readFile(fsys fs.FS, name string, most int64) ([]byte, error) {
	file, err := fsys.Open(name)
	if err != nil {
		return nil, unreadable(name, err)
	}
	defer func() { _ = file.Close() }()
	text, err := io.ReadAll(io.LimitReader(file, most+1))
	if err != nil {
		return nil, unreadable(name, err)
	}
	return text, nil
}

// unreadable is the error of content that cannot be read, or lacks what its format has.
func unreadable(name string, err error) error {
	return fault.New(fault.InvalidArgument, "read %s of the bundle: %w", name, err)
}
