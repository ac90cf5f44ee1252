package main

import (
	"bytes"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func atTop(t *testing.T) {
	t.Helper()
	t.Chdir(filepath.Join("..", "..", ".."))
}

// What is in the checkout is what the code makes of itself.
func TestFresh(t *testing.T) {
	atTop(t)
	wanted, err := generated()
	if err != nil {
		t.Fatal(err)
	}
	present, err := existing()
	if err != nil {
		t.Fatal(err)
	}
	for name, content := range wanted {
		got, err := os.ReadFile(name)
		if err != nil {
			t.Errorf("%v: run make generate", err)
			continue
		}
		if diff := cmp.Diff(string(got), string(content)); diff != "" {
			t.Errorf("%s is out of date, run make generate (-now +then):\n%s", name, diff)
		}
	}
	for name := range present {
		if _, ok := wanted[name]; !ok {
			t.Errorf("%s is no longer generated: run make generate", name)
		}
	}
}

// Nothing of the machine gets into the files.
func TestSameEverywhere(t *testing.T) {
	atTop(t)
	first, err := generated()
	if err != nil {
		t.Fatal(err)
	}
	home := t.TempDir()
	for _, name := range []string{"HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME", "KUBECONFIG", "KUBECACHEDIR", "USER"} {
		t.Setenv(name, home)
	}
	t.Setenv("SOURCE_DATE_EPOCH", "1")
	t.Setenv("TZ", "Asia/Tokyo")
	second, err := generated()
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(first, second); diff != "" {
		t.Errorf("another home, another result:\n%s", diff)
	}
	for name, content := range second {
		if bytes.Contains(content, []byte(home)) {
			t.Errorf("%s has the home directory in it", name)
		}
	}
}

func TestFenced(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"nothing", "", ""},
		{"only words", "a\n\nb", "a\n\nb"},
		{"a block", "a:\n\n  b\n  c\n\nd", "a:\n\n```\n  b\n  c\n```\n\nd"},
		{"with a gap", "  b\n\n  c", "```\n  b\n\n  c\n```"},
		{"at the end", "a\n\n  b", "a\n\n```\n  b\n```"},
	} {
		if got := fenced(c.text); got != c.want {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
	}
}

// A page that is named is a link to it, unless it is in a block of code.
func TestLinked(t *testing.T) {
	got := linked("docs/a.md is first.\nSee docs/blue-prints.md, too.\n\n  # see docs/c.md\n")
	want := "[docs/a.md](a.md) is first.\nSee [docs/blue-prints.md](blue-prints.md), too.\n\n  # see docs/c.md\n"
	if got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestFlagsOfKubectlAreSaid(t *testing.T) {
	atTop(t)
	all, err := generated()
	if err != nil {
		t.Fatal(err)
	}
	pages, err := manual("man")
	if err != nil || len(pages) == 0 {
		t.Fatalf("%d man pages, %v", len(pages), err)
	}
	maps.Copy(all, pages)
	for name, content := range all {
		page := string(content)
		if (strings.HasPrefix(name, "docs/commands/") || strings.HasPrefix(name, "man/")) &&
			!strings.Contains(page, "kubectl options") {
			t.Errorf("%s does not say that the flags of kubectl work", name)
		}
		if strings.Contains(page, "--as-group") || strings.Contains(page, `\-\-as\-group`) {
			t.Errorf("%s lists the flags of kubectl", name)
		}
	}
}
