package terminal

import (
	"strings"
	"testing"

	v1 "github.com/berthdev/berth/api/v1"
)

func TestSummaryAsDocument(t *testing.T) {
	doc := Team().Events[len(Team().Events)-1].Result.Summary
	if got := printed(t, "name", doc, 0, NoColour); strings.Count(got, "\n") != 3 {
		t.Errorf("the names of those that run are %q", got)
	}
	Golden(t, "batch/summary.json", printed(t, "json", doc, 0, NoColour))
	if got := printed(t, "jsonpath={.kind} {.items}", &v1.ProvisionSummary{}, 0, NoColour); got != "ProvisionSummary []" {
		t.Errorf("nothing is %q", got)
	}
}
