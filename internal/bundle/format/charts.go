package format

import (
	"io/fs"
	"path"
	"slices"
	"strings"
)

// maxNested is how deep charts are looked for in charts.
const maxNested = 10

// chartsIn are the charts in the directories of charts/ of a chart, and in theirs: each by its path of names, and its
// version. Those in archives were packed with the chart, and those are its own.
func chartsIn(fsys fs.FS, dir, above string, depth int) (charts []string) {
	entries, err := fs.ReadDir(fsys, path.Join(dir, "charts"))
	if err != nil || depth == maxNested {
		return nil
	}
	for _, entry := range entries {
		var about struct {
			Name    string `yaml:"name"`
			Version string `yaml:"version"`
		}
		at := path.Join(dir, "charts", entry.Name())
		if !entry.IsDir() || len(readYAML(fsys, path.Join(at, chartFile), &about)) > 0 || about.Name == "" {
			continue
		}
		name := strings.TrimPrefix(above+"/"+about.Name, "/")
		charts = append(charts, name+" "+about.Version)
		charts = append(charts, chartsIn(fsys, at, name, depth+1)...)
	}
	slices.Sort(charts)
	return charts
}
