// Package release renders the embedded chart and keeps Helm's record of what was
// installed, so that `helm list`, `get` and `uninstall` understand it.
package release

import (
	"embed"
	"fmt"
	"io/fs"
	"strings"

	"helm.sh/helm/v3/pkg/chart"
	"helm.sh/helm/v3/pkg/chart/loader"
)

//go:embed all:chart
var charts embed.FS

// ChartName is the chart of a workspace.
const ChartName = "k8shell-workspace"

// Chart loads the embedded chart.
func Chart() (*chart.Chart, error) {
	root := "chart/" + ChartName
	var files []*loader.BufferedFile
	err := fs.WalkDir(charts, root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		data, err := charts.ReadFile(path)
		files = append(files, &loader.BufferedFile{Name: strings.TrimPrefix(path, root+"/"), Data: data})
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("embedded chart: %w", err)
	}
	return loader.LoadFiles(files)
}
