package catalog

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/berthdev/berth/internal/blueprint"
	"github.com/berthdev/berth/internal/yamldoc"
)

// maxTotal is the limit of all files, and of all ConfigMaps, in bytes; yamldoc has
// that of one file.
const maxTotal = 8 << 20

// isYAML reports whether a file or a key of a ConfigMap is one of blueprints.
func isYAML(name string) bool {
	extension := filepath.Ext(name)
	return extension == ".yaml" || extension == ".yml"
}

// listDir are the YAML files of a directory, sorted.
func listDir(dir string) (paths []string, err error) {
	files, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	for _, file := range files {
		if !file.IsDir() && isYAML(file.Name()) {
			paths = append(paths, filepath.Join(dir, file.Name()))
		}
	}
	return paths, nil
}

// readFiles reads files until they are too large together.
func readFiles(files []string) (sources []blueprint.Source, problems []yamldoc.Problem) {
	left := maxTotal
	for _, file := range files {
		text, err := yamldoc.ReadFile(file)
		if err != nil {
			problems = append(problems, yamldoc.Problem{Message: err.Error()})
			continue
		}
		if left -= len(text); left < 0 {
			return sources, append(problems,
				yamldoc.Problem{File: file, Message: fmt.Sprintf("the files exceed %d MiB in total", maxTotal>>20)})
		}
		sources = append(sources, blueprint.Source{Name: file, Text: text})
	}
	return sources, problems
}
