package printer

import (
	"strings"
	"testing"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/terminal/style"
	"github.com/berthdev/berth/internal/terminal/terminaltest"
)

func TestSummaryAsDocument(t *testing.T) {
	doc := terminaltest.Team().Events[len(terminaltest.Team().Events)-1].Result.Summary
	if got := printed(t, "name", doc, 0, style.NoColour); strings.Count(got, "\n") != 3 {
		t.Errorf("the names of those that run are %q", got)
	}
	terminaltest.Golden(t, "batch/summary.json", printed(t, "json", doc, 0, style.NoColour))
	if got := printed(t, "jsonpath={.kind} {.items}", &v1.ProvisionSummary{}, 0, style.NoColour); got != "ProvisionSummary []" {
		t.Errorf("nothing is %q", got)
	}
}
