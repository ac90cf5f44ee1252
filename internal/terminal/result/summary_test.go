package result_test

import (
	"strings"
	"testing"

	"github.com/berthdev/berth/internal/goldentest"
	"github.com/berthdev/berth/internal/terminal/result"
	"github.com/berthdev/berth/internal/terminal/style"
	"github.com/berthdev/berth/internal/terminal/terminaltest"
	"github.com/berthdev/berth/internal/terminal/wording"
)

func TestSummaryAsDocument(t *testing.T) {
	team := terminaltest.Team()
	doc := result.Of(*team.Events[len(team.Events)-1].Result, wording.Batch{})
	if got := printed(t, "name", doc, 0, style.NoColour); strings.Count(got, "\n") != 3 {
		t.Errorf("the names of those that run are %q", got)
	}
	goldentest.Check(t, "batch/summary.json", printed(t, "json", doc, 0, style.NoColour))
	if got := printed(t, "jsonpath={.kind} {.items}", result.ProvisionSummary{}, 0,
		style.NoColour); got != "ProvisionSummary []" {
		t.Errorf("nothing is %q", got)
	}
}
