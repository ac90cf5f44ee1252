package pagetest

import (
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
)

// Every relative link of the documentation leads to something.
func TestLinksLead(t *testing.T) {
	checkout := os.DirFS("../..")
	pages, err := fs.Glob(checkout, "*.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{"docs", "test"} {
		err := fs.WalkDir(checkout, dir, func(name string, _ fs.DirEntry, err error) error {
			if path.Ext(name) == ".md" {
				pages = append(pages, name)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if !slices.Contains(pages, "README.md") || !slices.Contains(pages, "docs/team.md") {
		t.Fatalf("the pages are %s", pages)
	}
	for _, page := range pages {
		problems, err := Broken(checkout, page)
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range problems {
			t.Error(p)
		}
	}
}

// Every page of docs/ can be reached from the README, so that nobody has to know
// that it is there.
func TestPagesAreReached(t *testing.T) {
	checkout := os.DirFS("../..")
	reached := map[string]bool{}
	next := []string{"README.md"}
	for len(next) > 0 {
		page := next[0]
		next = next[1:]
		if reached[page] {
			continue
		}
		reached[page] = true
		text, err := fs.ReadFile(checkout, page)
		if err != nil {
			continue // TestLinksLead says so
		}
		for _, l := range link.FindAllStringSubmatch(string(text), -1) {
			target, _, _ := strings.Cut(l[1], "#")
			if path.Ext(target) == ".md" && !strings.Contains(target, "://") {
				next = append(next, path.Join(path.Dir(page), target))
			}
		}
	}
	pages, err := fs.Glob(checkout, "docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, page := range pages {
		if !reached[page] {
			t.Errorf("no link leads from README.md to %s", page)
		}
	}
}

func TestBroken(t *testing.T) {
	files := fstest.MapFS{
		"README.md": {Data: []byte("# Name\n[a](docs/a.md) [b](docs/a.md#two-words) [c](#name) " +
			"[d](https://example.com/x#y)\n" +
			"`[code](none.md)`\n```\n[code](none.md)\n```\n" +
			"[e](docs) [f](docs/b.md)\n[g](docs/a.md#three) [h](#none)\n")},
		"docs/a.md": {Data: []byte("# `Two` words!\n## Name\n## Name\n" +
			"[a](../README.md#name) [b](#name-1) [c](#name-2)\n")},
	}
	for name, want := range map[string][]string{
		"README.md": {
			"README.md:7: docs/b.md leads nowhere", "README.md:8: docs/a.md#three leads nowhere",
			"README.md:8: #none leads nowhere",
		},
		"docs/a.md": {"docs/a.md:4: #name-2 leads nowhere"},
	} {
		got, err := Broken(files, name)
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Errorf("%s: %v (-want +got):\n%s", name, err, diff)
		}
	}
}
