package dependency

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"

	helmchart "helm.sh/helm/v3/pkg/chart"
	"sigs.k8s.io/yaml"

	"github.com/berthdev/berth/internal/bundle/content"
	"github.com/berthdev/berth/internal/chart"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/yamldoc"
)

// description is what a chart says of itself, and which charts it has.
type description struct {
	meta *helmchart.Metadata
	// lock is nil without a lock file; lockFile is its name.
	lock     *helmchart.Lock
	lockFile string
	has      []string // names of the charts in charts/
}

// isWhole is true for a chart that has all it depends on: as Helm finds at an installation, by their names.
func (d *description) isWhole() bool {
	return !slices.ContainsFunc(d.meta.Dependencies,
		func(wanted *helmchart.Dependency) bool { return !slices.Contains(d.has, wanted.Name) })
}

// describe reads what a chart says of itself. What is left of maxInflated is for all charts of one gathering.
func describe(ctx context.Context, n *node, left *int64) (*description, error) {
	fsys, err := fs.Sub(n.files, n.dir)
	if err != nil {
		return nil, err
	}
	d := &description{meta: &helmchart.Metadata{}}
	if err := decode(fsys, "Chart.yaml", d.meta); err != nil {
		return nil, err
	}
	if d.meta.APIVersion == "" {
		d.meta.APIVersion = helmchart.APIVersionV1
	}
	for _, file := range []struct {
		name string
		to   any
	}{{"requirements.yaml", d.meta}, {"Chart.lock", &d.lock}, {"requirements.lock", &d.lock}} {
		err := decode(fsys, file.name, file.to)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		if d.lock != nil {
			d.lockFile = file.name
		}
	}
	if err := d.meta.Validate(); err != nil { // which also tidies the dependencies, as a lock has them
		return nil, err
	}
	if len(d.meta.Dependencies) > 0 {
		d.has, err = vendored(ctx, n, fsys, left)
	}
	return d, err
}

// The limits of what is read of a chart.
const (
	maxFile     = yamldoc.MaxFile
	maxMarks    = 100_000
	maxInflated = 512 << 20 // bytes of all archives in charts/ of all charts, up to their Chart.yaml
)

// decode reads a file of YAML.
func decode(fsys fs.FS, name string, to any) error {
	file, err := fsys.Open(name)
	if err != nil {
		return err
	}
	defer func() { _ = file.Close() }()
	return decodeFrom(file, name, to)
}

func decodeFrom(r io.Reader, name string, to any) error {
	text, err := io.ReadAll(io.LimitReader(r, maxFile+1))
	if err != nil {
		return err
	}
	text = bytes.TrimPrefix(text, []byte("\ufeff"))
	bounds := yamldoc.Limits{Bytes: maxFile, Marks: maxMarks, Weight: 4 * maxFile, Depth: yamldoc.MaxDepth}
	if found := yamldoc.Bomb(text, bounds); found != nil {
		return fmt.Errorf("%s: %s", name, found.Message)
	}
	if err := yaml.Unmarshal(text, to); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

// vendored are the names of the charts in charts/: directories and archives. What cannot be read is passed over;
// a budget that is used up is an error.
func vendored(ctx context.Context, n *node, fsys fs.FS, left *int64) (names []string, err error) {
	err = n.walk(ctx, fsys, func(file string) error {
		below, ok := strings.CutPrefix(file, "charts/")
		if !ok || strings.IndexAny(below, "_.") == 0 {
			return nil
		}
		dir, name := path.Split(below)
		var meta helmchart.Metadata
		switch {
		case name == "Chart.yaml" && strings.Count(dir, "/") == 1:
			err = decode(fsys, file, &meta)
		case dir == "" && path.Ext(name) == ".tgz":
			err = inArchive(ctx, fsys, file, left, &meta)
			if err != nil && *left <= 0 {
				return tooInflated()
			}
		}
		if err == nil && meta.Name != "" {
			names = append(names, meta.Name)
		}
		return ctx.Err()
	})
	return names, err
}

func tooInflated() error {
	return fault.New(fault.InvalidArgument, "more than %d MiB of the archives in charts/ would be unpacked to find "+
		"out which charts they are", maxInflated>>20).
		WithReason(content.ReasonTooLarge).WithHint("pack the charts in charts/ with `helm package`, which puts " +
		"Chart.yaml first")
}

// inArchive reads the Chart.yaml of an archive, which is near its beginning.
func inArchive(ctx context.Context, fsys fs.FS, name string, left *int64, meta *helmchart.Metadata) error {
	file, err := fsys.Open(name)
	if err != nil {
		return err
	}
	defer func() { _ = file.Close() }()
	compressed, err := gzip.NewReader(file)
	if err != nil {
		return err
	}
	limited := &io.LimitedReader{R: compressed, N: *left}
	defer func() { *left = limited.N }()
	for files := tar.NewReader(limited); ctx.Err() == nil; {
		header, err := files.Next()
		if err != nil {
			return err
		}
		name := path.Clean(strings.TrimPrefix(header.Name, "./"))
		if path.Base(name) == "Chart.yaml" && strings.Count(name, "/") == 1 {
			return decodeFrom(files, name, meta)
		}
	}
	return ctx.Err()
}

// walk calls each for the files of a chart: of a directory those that its .helmignore does not leave out, and of an
// archive all, which was packed without them.
func (n *node) walk(ctx context.Context, fsys fs.FS, each func(name string) error) error {
	if n.local {
		return chart.Walk(ctx, fsys, each)
	}
	return fs.WalkDir(fsys, ".", func(name string, entry fs.DirEntry, err error) error {
		if err == nil && !entry.IsDir() {
			err = each(name)
		}
		return err
	})
}
