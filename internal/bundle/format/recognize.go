package format

import (
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/berthdev/berth/internal/fault"
)

// Recognize says which format a bundle has, by the files at its root. The error says what
// was found and what is expected.
func Recognize(fsys fs.FS) (Format, error) {
	entries, err := fs.ReadDir(fsys, ".")
	if err != nil {
		return "", unreadable(".", err)
	}
	var found []Format
	var evidence []string
	has := func(format Format, file string) {
		found, evidence = append(found, format), append(evidence, file)
	}
	charts := chartDirs(fsys, entries)
	switch {
	case slices.Contains(charts, "."): // whatever lies beside it
	case isFile(fsys, annotationsFile):
		has(Registry, annotationsFile)
	case isDir(fsys, "manifests"):
		has(Plain, "manifests/")
	}
	for _, dir := range charts {
		has(Helm, path.Join(dir, "Chart.yaml"))
	}
	switch {
	case len(found) == 1:
		return found[0], nil
	case len(found) > 1 && len(charts) == len(found):
		return "", fault.New(fault.InvalidArgument, "the bundle has several charts: %s", strings.Join(evidence, ", ")).
			WithHint("give the directory of one chart")
	case len(found) > 1:
		return "", fault.New(fault.InvalidArgument, "the format of the bundle is ambiguous: it has %s",
			strings.Join(evidence, " and ")).
			WithHint("choose one with --format: %s", texts(Formats()))
	}
	return "", unrecognized(fsys, entries)
}

// unrecognized is the error of a bundle of no format.
func unrecognized(fsys fs.FS, entries []fs.DirEntry) error {
	expected := "a bundle has manifests/ (plain+v0), a Chart.yaml at its root or in one directory (helm), " +
		"or metadata/annotations.yaml and manifests/ (registry+v1)"
	if len(entries) == 0 {
		return fault.New(fault.InvalidArgument, "the bundle is empty").WithHint("%s", expected)
	}
	err := fault.New(fault.InvalidArgument, "the format of the bundle is not known: it has %s", names(entries))
	for _, entry := range entries {
		if sub, subErr := fs.Sub(fsys, entry.Name()); subErr == nil && entry.IsDir() {
			if isDir(sub, "manifests") || len(chartDirs(sub, nil)) > 0 {
				return err.WithHint("directory %s holds a bundle: give that directory", entry.Name())
			}
		}
	}
	if slices.ContainsFunc(entries, isManifest) {
		return err.WithHint("put manifests into a directory manifests/, and give the directory that this is in; %s",
			expected)
	}
	return err.WithHint("%s", expected)
}

// isManifest is true for what may be a manifest, by its name.
func isManifest(entry fs.DirEntry) bool {
	switch path.Ext(entry.Name()) {
	case ".yaml", ".yml", ".json":
		return entry.Type().IsRegular()
	}
	return false
}

// chartDirs are the directories with a chart: the root alone, or those right below it.
func chartDirs(fsys fs.FS, entries []fs.DirEntry) (dirs []string) {
	if isFile(fsys, "Chart.yaml") {
		return []string{"."}
	}
	for _, entry := range entries {
		if entry.IsDir() && isFile(fsys, path.Join(entry.Name(), "Chart.yaml")) {
			dirs = append(dirs, entry.Name())
		}
	}
	return dirs
}

// names are the first few entries of a directory, for a message.
func names(entries []fs.DirEntry) string {
	const most = 10
	var some []string
	for i, entry := range entries {
		if i == most {
			some = append(some, "…")
			break
		}
		name := entry.Name()
		if entry.IsDir() {
			name += "/"
		}
		some = append(some, name)
	}
	return strings.Join(some, ", ")
}

// texts are formats for a message.
func texts(formats []Format) string {
	some := make([]string, len(formats))
	for i, format := range formats {
		some[i] = string(format)
	}
	return strings.Join(some, ", ")
}

func isFile(fsys fs.FS, name string) bool {
	info, err := fs.Stat(fsys, name)
	return err == nil && info.Mode().IsRegular()
}

func isDir(fsys fs.FS, name string) bool {
	info, err := fs.Stat(fsys, name)
	return err == nil && info.IsDir()
}
