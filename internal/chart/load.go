package chart

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"

	helmchart "helm.sh/helm/v3/pkg/chart"
	"helm.sh/helm/v3/pkg/chart/loader"
	"helm.sh/helm/v3/pkg/ignore"

	"github.com/berthdev/berth/internal/chart/budget"
	"github.com/berthdev/berth/internal/yamldoc"
)

// ofFile are the bytes of a file beside its content.
const ofFile = 512

// The limits of a chart with its subcharts, unpacked.
const (
	maxFile   = 5 << 20 // Helm's own
	maxChart  = 64 << 20
	maxFiles  = 10_000
	maxNested = 16 // charts inside charts
)

// load reads the chart at the root of a file system, as Helm reads a directory.
func load(ctx context.Context, fsys fs.FS, b *budget.Budget) (*helmchart.Chart, error) {
	l := &loading{budget: b}
	if err := l.directory(ctx, fsys); err != nil {
		return nil, err
	}
	files, err := l.expand(l.files, 0)
	if err != nil {
		return nil, err
	}
	for _, file := range files {
		switch path.Base(file.Name) {
		case "Chart.yaml", "values.yaml", "requirements.yaml", "Chart.lock", "requirements.lock":
			if err := l.parsed(file); err != nil {
				return nil, err
			}
		}
	}
	c, err := loader.LoadFiles(files)
	if err != nil {
		return nil, err
	}
	order(c)
	return c, nil
}

// parsed charges a file of YAML, which is parsed next.
func (l *loading) parsed(file *loader.BufferedFile) error {
	if found := yamldoc.Bomb(file.Data, budget.YAMLLimits(file.Data)); found != nil {
		return fmt.Errorf("%s: %s", file.Name, found.Message)
	}
	keep, pass := budget.YAML(file.Data)
	done, err := l.budget.Pass(file.Name, pass)
	if err != nil {
		return err
	}
	done()
	return l.budget.Hold(file.Name, keep)
}

// loading counts what is read.
type loading struct {
	budget *budget.Budget
	files  []*loader.BufferedFile
	bytes  int
	count  int
}

func (l *loading) add(size int) error {
	if l.count, l.bytes = l.count+1, l.bytes+size; l.count > maxFiles {
		return fmt.Errorf("more than %d files", maxFiles)
	}
	if l.bytes > maxChart {
		return fmt.Errorf("larger than %d MiB", maxChart>>20)
	}
	return l.budget.Hold("the chart", float64(size)+ofFile)
}

// directory reads the files of a chart.
func (l *loading) directory(ctx context.Context, fsys fs.FS) error {
	return Walk(ctx, fsys, func(name string) error {
		text, err := read(fsys, name)
		if err == nil {
			err = l.add(len(text))
		}
		l.files = append(l.files, &loader.BufferedFile{Name: name, Data: bytes.TrimPrefix(text, []byte("\ufeff"))})
		return err
	})
}

// Walk calls each for the files of the chart at the root of a file system that its .helmignore does not leave out.
func Walk(ctx context.Context, fsys fs.FS, each func(name string) error) error {
	rules := ignore.Empty()
	if text, err := read(fsys, ignore.HelmIgnore); err == nil {
		if rules, err = ignore.Parse(bytes.NewReader(text)); err != nil {
			return fmt.Errorf("%s: %w", ignore.HelmIgnore, err)
		}
	}
	rules.AddDefaults()
	return fs.WalkDir(fsys, ".", func(name string, entry fs.DirEntry, err error) error {
		if err = cmp.Or(err, ctx.Err()); err != nil || name == "." {
			return err
		}
		info, err := entry.Info()
		switch {
		case err != nil:
			return err
		case rules.Ignore(name, info) && entry.IsDir():
			return fs.SkipDir
		case rules.Ignore(name, info), entry.IsDir():
			return nil
		case !entry.Type().IsRegular():
			return fmt.Errorf("%s: not a regular file", name)
		}
		return each(name)
	})
}

// read reads a file, but not more than a chart may have.
func read(fsys fs.FS, name string) ([]byte, error) {
	file, err := fsys.Open(name)
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }()
	text, err := io.ReadAll(io.LimitReader(file, maxFile+1))
	if err == nil && len(text) > maxFile {
		err = fmt.Errorf("%s: larger than %d MiB", name, maxFile>>20)
	}
	return text, err
}

// expand replaces the archives of subcharts by the files in them, since Helm bounds each
// archive and not all of them together.
func (l *loading) expand(files []*loader.BufferedFile, depth int) (out []*loader.BufferedFile, err error) {
	if depth > maxNested {
		return nil, fmt.Errorf("more than %d charts inside each other", maxNested)
	}
	taken := map[string]bool{}
	for _, file := range files {
		if dir, _, below := strings.Cut(strings.TrimPrefix(file.Name, "charts/"), "/"); below {
			taken[dir] = true
		}
	}
	for _, file := range files {
		dir, name := path.Split(file.Name)
		if path.Base(dir) != "charts" || path.Ext(name) != ".tgz" || strings.IndexAny(name, "_.") == 0 {
			out = append(out, file)
			continue
		}
		inner, err := loader.LoadArchiveFiles(bytes.NewReader(file.Data))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", file.Name, err)
		}
		for _, f := range inner {
			if err := l.add(len(f.Data)); err != nil {
				return nil, err
			}
		}
		if inner, err = l.expand(inner, depth+1); err != nil {
			return nil, err
		}
		into := strings.TrimSuffix(name, ".tgz")
		for taken[into] {
			into += "-archive"
		}
		taken[into] = true
		for _, f := range inner {
			out = append(out, &loader.BufferedFile{Name: path.Join(dir, into, f.Name), Data: f.Data})
		}
	}
	return out, nil
}

// order makes the order of subcharts the same each time.
func order(c *helmchart.Chart) {
	subcharts := slices.Clone(c.Dependencies())
	slices.SortStableFunc(subcharts, func(a, b *helmchart.Chart) int {
		return cmp.Or(strings.Compare(a.Name(), b.Name()), strings.Compare(a.Metadata.Version, b.Metadata.Version))
	})
	c.SetDependencies(subcharts...)
	for _, sub := range subcharts {
		order(sub)
	}
}
