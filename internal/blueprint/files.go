package blueprint

import (
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/berthdev/berth/internal/yamldoc"
)

// listDir are the YAML files of a directory, sorted.
func listDir(dir string) (paths []string, err error) {
	files, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	for _, file := range files {
		if ext := filepath.Ext(file.Name()); !file.IsDir() && (ext == ".yaml" || ext == ".yml") {
			paths = append(paths, filepath.Join(dir, file.Name()))
		}
	}
	return paths, nil
}

// readFile reads a file, but no more than a file of blueprints can have: what
// its name stands for may have no end.
func readFile(path string) ([]byte, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	raw, err := io.ReadAll(io.LimitReader(file, yamldoc.MaxFile+1))
	if err != nil {
		return nil, err
	}
	if len(raw) > yamldoc.MaxFile {
		return nil, fmt.Errorf("%s: is larger than %d MiB", path, yamldoc.MaxFile>>20)
	}
	return raw, nil
}
