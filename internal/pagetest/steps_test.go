package pagetest

import (
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
)

const aPage = "# A page\n" +
	"```yaml\n# dir/a.yaml\na: 1\n```\n" +
	"Save [a Role](roles.md#a-role) as `role.yaml`.\n" +
	"```console\nadmin$ first \\\n  --flag\none\n\ntwo\nalice$ second\n```\n"

func TestSteps(t *testing.T) {
	pages := fstest.MapFS{
		"docs/page.md":  {Data: []byte(aPage)},
		"docs/roles.md": {Data: []byte("# Roles\n```yaml\nother: 1\n```\n## A Role\nwords\n```yaml\nrole: 1\n```\n")},
	}
	got, err := Steps(pages, "docs/page.md")
	want := []Step{
		{Line: 3, File: "dir/a.yaml", Text: "# dir/a.yaml\na: 1\n"},
		{Line: 6, File: "role.yaml", Text: "role: 1\n"},
		{Line: 8, Who: "admin", Command: "first \\\n  --flag", Shows: "one\n\ntwo\n"},
		{Line: 13, Who: "alice", Command: "second"},
	}
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
}

func TestStepsThatCannotBeDone(t *testing.T) {
	for name, tc := range map[string]struct{ page, says string }{
		"a file without a name":       {"```yaml\na: 1\n```\n", "p.md:2: the block"},
		"output without a command":    {"\n```console\none\n```\n", "p.md:3: output of no command: one"},
		"a section that is not there": {"Save [x](p.md#none) as `x`\n", "p.md#none has no block to save"},
		"a page that is not there":    {"Save [x](none.md#x) as `x`\n", "none.md"},
	} {
		_, err := Steps(fstest.MapFS{"p.md": {Data: []byte(tc.page)}}, "p.md")
		if err == nil || !strings.Contains(err.Error(), tc.says) {
			t.Errorf("%s: %v, want %q", name, err, tc.says)
		}
	}
}

func TestMatches(t *testing.T) {
	for _, c := range []struct {
		name, shows, got string
		want             bool
	}{
		{"the same", "a\nb\n", "a\nb\n", true},
		{"another word", "a\nb\n", "a\nc\n", false},
		{"a line more", "a\n", "a\nb\n", false},
		{"a line less", "a\nb\n", "a\n", false},
		{"another time", "2026-11-23T11:39:31Z ready in 1.5s\n", "2027-01-02T01:02:03Z ready in 1m20s\n", true},
		{"another age, wider columns", "NAME  AGE   X\na     1s    0\n", "NAME   AGE    X\na      1h2m   0\n", true},
		{"another job", "24b66ac4-353a-4289-bdab-27d4e8895cec\n", "0e57f5cd-488a-4b5b-ab2e-4bc7d8f11d6d\n", true},
		{"another workspace", "alice-59936c3\n", "alice-1ef391d\n", false},
		{"another number", "3 objects\n", "4 objects\n", false},
		{"a part of a line", "a … c\n", "a b b c\n", true},
		{"a part that is not there", "a … c\n", "a b d\n", false},
		{"lines left out", "a\n…\nd\n", "a\nb\nc\nd\n", true},
		{"none left out", "a\n…\nd\n", "a\nd\n", true},
		{"the last line missing", "a\n…\nd\n", "a\nb\n", false},
		{"without a newline at the end", "a\n", "a", true},
		{"no pattern", "a.c (x)\n", "abc x\n", false},
	} {
		if got := Matches(c.shows, c.got); got != c.want {
			t.Errorf("%s: %t", c.name, got)
		}
	}
}
