package format

import (
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/berthdev/berth/internal/bundle/kustomize"
	"github.com/berthdev/berth/internal/fault"
)

// chartFile is what says that a directory is a chart.
const chartFile = "Chart.yaml"

// Recognize says which format a bundle has, by the files in it. The error says what was found and what is expected.
func Recognize(fsys fs.FS) (Format, error) {
	e, err := look(fsys)
	if err != nil {
		return "", err
	}
	switch found := e.first(); {
	case len(found) == 1:
		return found[0].format, nil
	case len(found) > 1 && len(e.charts) == len(found):
		return "", fault.New(fault.InvalidArgument, "the bundle has several charts: %s", files(found, ", ")).
			WithHint("give the directory of one chart")
	case len(found) > 1:
		return "", fault.New(fault.InvalidArgument, "the format of the bundle is ambiguous: it has %s",
			files(found, " and ")).
			WithHint("choose one with --format: %s", texts(formatsOf(found)))
	}
	if e.tree() {
		return YAML, nil
	}
	return "", e.unrecognized()
}

// RecognizeAs says which format a bundle has that is read as one of a class: where it may be several, the one of that
// class. Its base may be another than that of the class, which is then not for the bundle.
func RecognizeAs(fsys fs.FS, class Format) (Format, error) {
	found, err := Recognize(fsys)
	if err == nil && found.Base() == class {
		return found, nil
	}
	e, lookErr := look(fsys)
	if lookErr != nil {
		return "", lookErr
	}
	for _, f := range e.found {
		if f.format.Base() == class && (class != Helm || len(e.charts) == 1) {
			return f.format, nil
		}
	}
	return found, err
}

// evidence is what says of a bundle which format it has.
type evidence struct {
	fsys    fs.FS
	entries []fs.DirEntry
	charts  []string
	found   []finding
}

// finding is a format that a bundle may have, and the file that says so.
type finding struct {
	format Format
	file   string
}

// look finds what there is at the root of a bundle, in the order in which it counts.
func look(fsys fs.FS) (e evidence, err error) {
	e.fsys = fsys
	if e.entries, err = fs.ReadDir(fsys, "."); err != nil {
		return e, unreadable(".", err)
	}
	has := func(format Format, file string) { e.found = append(e.found, finding{format, file}) }
	e.charts = chartDirs(fsys, e.entries)
	switch {
	case slices.Contains(e.charts, "."): // whatever lies beside it
	case isFile(fsys, annotationsFile):
		has(Registry, annotationsFile)
	case isDir(fsys, manifestsDir):
		has(Plain, manifestsDir+"/")
	}
	for _, dir := range e.charts {
		has(Helm, path.Join(dir, chartFile))
	}
	if file := kustomize.FileIn(fsys, "."); file != "" {
		has(Kustomize, file)
	}
	return e, nil
}

// first are the formats that count: a kustomization beside a chart or the bundle of an operator is a part of that, but
// manifests beside one are usually parts of the kustomization.
func (e evidence) first() []finding {
	others := slices.DeleteFunc(slices.Clone(e.found), func(f finding) bool { return f.format == Kustomize })
	if len(others) == 0 || len(others) == 1 && others[0].format == Plain {
		return e.found
	}
	return others
}

// tree says whether a bundle is a directory of manifests: it has some, and nothing in it is a bundle of its own.
func (e evidence) tree() bool {
	return len(e.inner()) == 0 && len(kustomizations(e.fsys)) == 0 && hasManifest(e.fsys)
}

// inner are the directories at the root that are bundles.
func (e evidence) inner() (dirs []string) {
	for _, entry := range e.entries {
		sub, err := fs.Sub(e.fsys, entry.Name())
		if err == nil && entry.IsDir() && (isDir(sub, manifestsDir) || len(chartDirs(sub, nil)) > 0) {
			dirs = append(dirs, entry.Name())
		}
	}
	return dirs
}

// unrecognized is the error of a bundle of no format.
func (e evidence) unrecognized() error {
	const expected = "a bundle has YAML or JSON files, in manifests/ (plain+v0) or anywhere, a kustomization.yaml, a " +
		"Chart.yaml at its root or in one directory (helm), or metadata/annotations.yaml and manifests/ (registry+v1)"
	if len(e.entries) == 0 {
		return fault.New(fault.InvalidArgument, "the bundle is empty").WithHint("%s", expected)
	}
	if dirs := kustomizations(e.fsys); len(dirs) > 0 {
		return fault.New(fault.InvalidArgument, "the bundle has a kustomization in %s, not at its root",
			strings.Join(dirs, ", ")).
			WithHint("give the directory of the one that is to be built, after two slashes: SOURCE//%s", dirs[0])
	}
	err := fault.New(fault.InvalidArgument, "the format of the bundle is not known: it has %s", names(e.entries))
	if dirs := e.inner(); len(dirs) > 0 {
		return err.WithHint("directory %s holds a bundle: give that directory", dirs[0])
	}
	return err.WithHint("%s", expected)
}

// chartDirs are the directories with a chart: the root alone, or those right below it.
func chartDirs(fsys fs.FS, entries []fs.DirEntry) (dirs []string) {
	if isFile(fsys, chartFile) {
		return []string{"."}
	}
	for _, entry := range entries {
		if entry.IsDir() && isFile(fsys, path.Join(entry.Name(), chartFile)) {
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

// files are what was found, for a message.
func files(found []finding, separator string) string {
	some := make([]string, len(found))
	for i, f := range found {
		some[i] = f.file
	}
	return strings.Join(some, separator)
}

func formatsOf(found []finding) (formats []Format) {
	for _, f := range found {
		formats = append(formats, f.format)
	}
	return formats
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
