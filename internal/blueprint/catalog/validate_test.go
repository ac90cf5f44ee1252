package catalog

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/berthdev/berth/internal/blueprint"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/skiptest"
)

// tree writes files below a directory, and links: those whose text begins with ->.
func tree(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		var err error
		if target, isLink := strings.CutPrefix(text, "->"); isLink {
			err = os.Symlink(target, path)
		} else {
			err = os.WriteFile(path, []byte(text), 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// What is validated: the files and directories that are named, on top of what is configured, or what is configured
// alone; or why not.
func TestCheckOfPaths(t *testing.T) {
	dir := tree(t, map[string]string{
		"set/a.yaml": "blueprints: [{name: a, template: base}]", "set/b.yml": "blueprints: [{name: b, template: a}]",
		"set/link.yaml": "->a.yaml.gone",
		"good/a.yaml":   "blueprints: [{name: a, template: base}]",
		"good/b.yaml":   "blueprints: [{name: b, template: a}, {name: c, template: b}]",
		"new/a.yaml":    "blueprints: [{name: a, template: base, splash: new}]",
		"new/more.yaml": "blueprints: [{name: d, template: c}]",
		"bad/a.yaml":    "blueprints: [{name: a, template: base, imge: x}]", "same.yaml": "->good/a.yaml",
		"none/README.md": "", "mine/.k8shell.yaml": "template: b\n",
	})
	links := skiptest.CanSymlink(t)
	for name, c := range map[string]struct {
		dir   string
		more  []blueprint.Source
		paths []string
		files string // those that are valid
		count int
		code  fault.Code
		says  string // the error, or its first problem
	}{
		"what is configured": {dir: "good", files: "good/a.yaml good/b.yaml", count: 3},
		"nothing":            {},
		"sources from elsewhere": {more: []blueprint.Source{{
			Name: "configmap",
			Text: []byte("blueprints: [{name: x, template: base}]"),
		}}, files: "configmap", count: 1},
		"a file":       {paths: []string{"good/a.yaml"}, files: "good/a.yaml", count: 1},
		"a file twice": {paths: []string{"good/a.yaml", "good/a.yaml"}, files: "good/a.yaml", count: 1},
		"a directory":  {paths: []string{"good"}, files: "good/a.yaml good/b.yaml", count: 3},
		"a directory and its file": {
			paths: []string{"good/b.yaml", "good"}, files: "good/a.yaml good/b.yaml",
			count: 3,
		},
		"a file that is configured": {dir: "good", paths: []string{"good/b.yaml"}, files: "good/b.yaml", count: 2},
		"by another path":           {dir: "good", paths: []string{"same.yaml"}, files: "same.yaml", count: 1},
		"another one of that name":  {dir: "good", paths: []string{"new"}, files: "new/a.yaml new/more.yaml", count: 2},
		"a blueprint of a user": {
			dir: "good", paths: []string{"mine/.k8shell.yaml"}, files: "mine/.k8shell.yaml",
			count: 1,
		},
		"on top of what is wrong": {
			dir: "bad", paths: []string{"good/b.yaml"}, code: fault.InvalidArgument,
			says: `bad/a.yaml:1:40: unknown field "imge"`,
		},
		"in the place of what is wrong": {
			dir: "bad", paths: []string{"bad/a.yaml"}, code: fault.InvalidArgument,
			says: `bad/a.yaml:1:40: unknown field "imge"`,
		},
		"without its parents": {
			paths: []string{"good/b.yaml"}, code: fault.InvalidArgument,
			says: `good/b.yaml:1:34: template "a" of blueprint "b" not found`,
		},
		"a file that is not there": {
			paths: []string{"good/c.yaml"}, code: fault.NotFound,
			says: "good/c.yaml: no such file or directory",
		},
		"in a file": {
			paths: []string{"good/a.yaml/b.yaml"}, code: fault.InvalidArgument,
			says: "not a directory",
		},
		"a directory without any": {
			paths: []string{"none"}, code: fault.NotFound,
			says: "no *.yaml or *.yml files in ",
		},
		"a link to nothing": {
			paths: []string{"set"}, code: fault.InvalidArgument,
			says: "no such file or directory",
		},
		"one that is configured": {dir: "set", code: fault.InvalidArgument, says: "no such file or directory"},
		"a directory that is not there": {
			dir: "nowhere", code: fault.InvalidArgument,
			says: "blueprints directory: open ",
		},
		"both": {
			dir: "nowhere", paths: []string{"good"}, code: fault.InvalidArgument,
			says: "blueprints directory: open ",
		},
	} {
		switch {
		case !links && (c.dir == "set" || slices.Contains(c.paths, "set") || slices.Contains(c.paths, "same.yaml")),
			skiptest.Windows && name == "in a file": // which Windows does not find
			continue
		}
		configured := Configured{More: c.more}
		if c.dir != "" {
			configured.Dir = filepath.Join(dir, c.dir)
		}
		var paths []string
		for _, path := range c.paths {
			paths = append(paths, dir+"/"+path)
		}
		done, err := Check(t.Context(), configured, paths)
		says := ""
		if err != nil {
			says = strings.Join(append(slices.Clone(problemsOf(err)), err.Error()), "\n")
		}
		if fault.CodeOf(err) != c.code ||
			!strings.Contains(strings.SplitN(below(dir, says), "\n", 2)[0], c.says) {
			t.Errorf("%s: %v: %s", name, err, says)
		}
		if files := below(dir, strings.Join(done.Files, " ")); files != c.files ||
			done.Blueprints != c.count || (done.Set != nil) != (err == nil) {
			t.Errorf("%s: %d blueprints in %q", name, done.Blueprints, files)
		}
		if len(c.paths) > 0 {
			continue
		}
		if s, loadErr := Load(configured.Dir, configured.More...); fault.CodeOf(loadErr) != c.code ||
			(s != nil) != (err == nil) {
			t.Errorf("%s: it is loaded otherwise: %v", name, loadErr)
		}
	}
}

// below leaves the directory out of the paths in a text, and gives them slashes.
func below(dir, text string) string {
	return strings.ReplaceAll(filepath.ToSlash(text), filepath.ToSlash(dir)+"/", "")
}

// The files of a directory have 8 MiB at most, and those that fit are looked at.
func TestSizeOfFiles(t *testing.T) {
	large := strings.Repeat("#", 1<<20)
	files := map[string]string{"a.yaml": "blueprints: [{name: a, template: base}]\n" + strings.Repeat("#", 1<<20-40)}
	for _, name := range []string{"b", "c", "d", "e", "f", "g", "h"} {
		files[name+".yaml"] = large
	}
	dir := tree(t, files)
	if s, err := Load(dir); err != nil || !s.Has("a") {
		t.Errorf("%v: %q", err, problemsOf(err))
	}
	files["i.yaml"] = "#"
	dir = tree(t, files)
	want := filepath.Join(dir, "i.yaml") + ": the files exceed 8 MiB in total"
	if _, err := Load(dir); !slices.Equal(problemsOf(err), []string{want}) {
		t.Errorf("%v: %q", err, problemsOf(err))
	}
}
