package result_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/terminal/result"
	"github.com/berthdev/berth/internal/terminal/style"
	"github.com/berthdev/berth/internal/terminal/wording"
)

// The line that a problem is about stays below it, with the mark in its place: of a single
// workspace, and of one among several. What comes from elsewhere adds no lines.
func TestProblemsWithTheirLines(t *testing.T) {
	err := fault.New(fault.InvalidArgument, "invalid blueprints: 2 problems")
	err.Problems = []string{"a.yaml:2:5: unknown field\n      imge:   x\n      ^", "from\nelsewhere"}
	failed := *result.NewError(err)
	if !slices.Equal(failed.Problems, []string{"a.yaml:2:5: unknown field", "from\nelsewhere"}) ||
		!slices.Equal(failed.Excerpts, []string{"      imge:   x\n      ^", ""}) {
		t.Errorf("the document has %q, %q", failed.Problems, failed.Excerpts)
	}
	summary := v1.ProvisionSummary{Items: []v1.ProvisionItem{{ID: "alice-1"}, {ID: "bob-2", Error: &failed}}}
	batch := wording.Batch{Members: []wording.Title{
		{UserString: "alice", ID: "alice-1"},
		{UserString: "bob", ID: "bob-2"},
	}}
	page := style.Page{Width: 100}
	single, _ := result.Error{Error: failed}.Text(page)
	several := result.Of(v1.Result{Summary: &summary}, batch).Outcome(page, wording.Title{}, time.Second).Summary(page)
	for name, test := range map[string]struct {
		lines  []string
		indent string
	}{"single": {single, "       "}, "several": {several, "    "}} {
		want := []string{
			test.indent + "- a.yaml:2:5: unknown field",
			test.indent + "        imge:   x",
			test.indent + "        ^",
			test.indent + "- from elsewhere",
		}
		at := slices.IndexFunc(test.lines, func(line string) bool { return strings.Contains(line, "a.yaml") })
		if at < 0 || len(test.lines) < at+len(want) || !slices.Equal(test.lines[at:at+len(want)], want) {
			t.Errorf("%s:\n%s", name, strings.Join(test.lines, "\n"))
		}
	}
}
