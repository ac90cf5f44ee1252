package main

import (
	"strings"
	"testing"

	"github.com/berthdev/berth/internal/watch/cause/catalog"
)

// Each cause has a page of the site with its parts, and a place in the index.
func TestCausePages(t *testing.T) {
	t.Chdir("../../..")
	pages, err := causePages("causes")
	if err != nil {
		t.Fatal(err)
	}
	index := string(pages["causes/index.md"])
	for _, e := range catalog.Explanations() {
		name := strings.ToLower(e.Code) + ".md"
		page := string(pages["causes/"+name])
		for _, part := range []string{
			"\n## What it looks like\n", "\n## Why\n", "\n## How to mend it\n", "`berth explain " + e.Code + "`",
		} {
			if !strings.Contains(page, part) {
				t.Errorf("%s lacks %q", name, part)
			}
		}
		for _, reason := range e.Reasons {
			if title, _, _ := strings.Cut(strings.TrimPrefix(page, "---\ntitle: "), "\n"); !strings.Contains(title,
				reason) {
				t.Errorf("%s is entitled %s, without %s", name, title, reason)
			}
		}
		if strings.Contains(page, "## What berth says") != strings.Contains(page, "[dump]("+sourceURL+"internal/") {
			t.Errorf("%s has an example without its dump, or a dump without an example", name)
		}
		if !strings.Contains(index, "](./"+name+")") {
			t.Errorf("the index lacks %s", name)
		}
	}
	if len(pages) != len(catalog.Explanations())+1 {
		t.Errorf("%d pages of %d causes", len(pages), len(catalog.Explanations()))
	}
}
