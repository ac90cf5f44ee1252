package pagetest

import (
	"io/fs"
	"os"
	"regexp"
	"strings"
	"testing"
)

// What docs/architecture.md and docs/design name is there: packages, files and tests.
func TestArchitectureNamesWhatIsThere(t *testing.T) {
	checkout := os.DirFS("../..")
	tests := declared(t, checkout)
	pages, err := fs.Glob(checkout, "docs/design/*.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, page := range append(pages, "docs/architecture.md") {
		text := read(t, checkout, page)
		for _, name := range regexp.MustCompile(`\bTest[A-Z]\w+`).FindAllString(text, -1) {
			if !tests[name] {
				t.Errorf("%s names the test %s, which does not exist", page, name)
			}
		}
	}
	text := read(t, checkout, "docs/architecture.md")
	for _, path := range append(inMap(text),
		regexp.MustCompile("`((?:internal|docs|test|cmd|api)/[\\w/.]+)`").FindAllString(text, -1)...) {
		if _, err := fs.Stat(checkout, strings.Trim(path, "`/")); err != nil {
			t.Errorf("docs/architecture.md names %s: %v", path, err)
		}
	}
}

// inMap are the directories of the map: those of the first column, each below the one that is
// less indented.
func inMap(text string) (paths []string) {
	_, text, _ = strings.Cut(text, "```\n")
	text, _, _ = strings.Cut(text, "\n```")
	above := ""
	for line := range strings.Lines(text) {
		rest, indented := strings.CutPrefix(strings.TrimRight(line, "\n"), "  ")
		first, _, _ := strings.Cut(rest, "   ")
		for i, dir := range strings.Fields(first) {
			switch {
			case !strings.HasSuffix(dir, "/") || dir == "VERB/":
				continue
			case indented:
				dir = above + dir
			case i == 0:
				above = dir
			case !strings.Contains(strings.TrimSuffix(dir, "/"), "/"):
				dir = strings.SplitAfter(above, "/")[0] + dir
			}
			paths = append(paths, dir)
		}
	}
	return paths
}

// declared are the tests of the checkout.
func declared(t *testing.T, checkout fs.FS) map[string]bool {
	t.Helper()
	tests := map[string]bool{}
	declaration := regexp.MustCompile(`(?m)^func (Test\w+)\(`)
	err := fs.WalkDir(checkout, ".", func(name string, _ fs.DirEntry, err error) error {
		if err == nil && strings.HasSuffix(name, "_test.go") {
			for _, found := range declaration.FindAllStringSubmatch(read(t, checkout, name), -1) {
				tests[found[1]] = true
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return tests
}

func read(t *testing.T, checkout fs.FS, name string) string {
	t.Helper()
	text, err := fs.ReadFile(checkout, name)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
