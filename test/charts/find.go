package main

import (
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"helm.sh/helm/v3/pkg/chart/loader"
	"helm.sh/helm/v3/pkg/chartutil"
	"helm.sh/helm/v3/pkg/strvals"
	"sigs.k8s.io/yaml"
)

// testCase is a chart with values.
type testCase struct {
	chart  string // a directory or an archive
	file   string // where the values are from; empty for the chart's own
	values []byte
}

func (c testCase) String() string {
	if c.file == "" {
		return c.chart
	}
	return c.chart + " with " + c.file
}

// find lists the charts in directories with their values, and says how many charts there are.
func find(dirs []string) (cases []testCase, charts int, err error) {
	for _, dir := range dirs {
		found, err := chartsIn(dir)
		if err != nil {
			return nil, 0, err
		}
		if len(found) == 0 {
			return nil, 0, fmt.Errorf("%s: no directory with a Chart.yaml, and no .tgz file", dir)
		}
		for _, chart := range found {
			values, err := valuesOf(chart)
			if err != nil {
				return nil, 0, fmt.Errorf("%s: %w", chart, err)
			}
			cases = append(append(cases, testCase{chart: chart}), values...)
		}
		charts += len(found)
	}
	return cases, charts, nil
}

// chartsIn are the charts in a directory, without the subcharts inside them.
func chartsIn(dir string) (charts []string, err error) {
	err = filepath.WalkDir(dir, func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case !entry.IsDir():
			if ext := filepath.Ext(name); ext == ".tgz" {
				charts = append(charts, name)
			}
			return nil
		}
		if _, err := os.Stat(filepath.Join(name, "Chart.yaml")); err == nil {
			charts = append(charts, name)
			return filepath.SkipDir
		}
		return nil
	})
	return charts, err
}

// valuesOf are the values that a chart is tested with where it is made.
func valuesOf(chart string) (cases []testCase, err error) {
	files := map[string][]byte{}
	info, err := os.Stat(chart)
	if err != nil {
		return nil, err
	}
	if info.IsDir() { // .helmignore may leave them out
		names, err := filepath.Glob(filepath.Join(chart, "ci", "*"))
		if err != nil {
			return nil, err
		}
		for _, name := range names {
			if files["ci/"+filepath.Base(name)], err = os.ReadFile(name); err != nil {
				return nil, err
			}
		}
	} else if c, err := loader.LoadFile(chart); err == nil { // what cannot be read is compared, too
		for _, file := range c.Files {
			files[file.Name] = file.Data
		}
	}
	for name, text := range files {
		switch matches, _ := path.Match("ci/*values.yaml", name); {
		case matches:
			cases = append(cases, testCase{chart, name, text})
		case path.Dir(name) == "ci" && path.Ext(name) == ".set":
			values, err := set(string(text))
			if err != nil {
				return nil, fmt.Errorf("%s: %w", name, err)
			}
			cases = append(cases, testCase{chart, name, values})
		}
	}
	slices.SortFunc(cases, func(a, b testCase) int { return strings.Compare(a.file, b.file) })
	return cases, nil
}

// set are values of lines as for --set.
func set(text string) ([]byte, error) {
	values := chartutil.Values{}
	for line := range strings.Lines(text) {
		if err := strvals.ParseInto(strings.TrimSuffix(line, "\n"), values); err != nil {
			return nil, err
		}
	}
	return yaml.Marshal(values)
}
