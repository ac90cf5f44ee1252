package progress

import (
	"encoding/json"
	"strings"
	"testing"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/terminal"
	"github.com/berthdev/berth/internal/terminal/printer"
	"github.com/berthdev/berth/internal/terminal/result"
	"github.com/berthdev/berth/internal/terminal/terminaltest"
	"github.com/berthdev/berth/internal/terminal/wording"
)

// An error is printed in exactly one place, whether the progress has shown it or was
// stopped before; and json is exactly one document.
func TestReportPrintsAnErrorOnce(t *testing.T) {
	for _, shown := range []bool{true, false} {
		for _, output := range []string{"text", "name", "jsonpath=.id", "json", "yaml"} {
			for code, story := range map[string]*terminaltest.Script{
				"FAILED":   terminaltest.ImageNotFound(),
				"CONFLICT": terminaltest.Refused(),
			} {
				stdout, stderr := reported(t, output, story, shown)
				wantText, wantDoc := 1, 0
				if output == "json" || output == "yaml" {
					wantText, wantDoc = map[bool]int{true: 1}[shown], 1
				}
				if inText, inDoc := strings.Count(stderr, code), strings.Count(stdout, code); inText != wantText ||
					inDoc != wantDoc {
					t.Errorf("%s, shown %v, %s: %d times on stderr, %d on stdout:\n%s%s", code, shown, output, inText,
						inDoc, stderr, stdout)
				}
			}
		}
	}
}

func TestReportPrintsTheDocument(t *testing.T) {
	for output, want := range map[string]string{
		"text": "", "wide": "", "name": "alice-3f9c2e1\n",
		"jsonpath={.stage}": "Running",
	} {
		if stdout, _ := reported(t, output, terminaltest.Succeeding(), true); stdout != want {
			t.Errorf("%s: got %q, want %q", output, stdout, want)
		}
	}
	var w v1.Workspace
	stdout, _ := reported(t, "json", terminaltest.Succeeding(), true)
	if err := json.Unmarshal([]byte(stdout), &w); err != nil || w.ID != terminaltest.Alice.ID {
		t.Errorf("json: %+v, %v", w, err)
	}
	stdout, _ = reported(t, "jsonl", terminaltest.Succeeding(), true)
	lines := strings.Split(strings.TrimSpace(stdout), "\n")
	if last, n := lines[len(lines)-1], len(terminaltest.Succeeding().Events); len(lines) != n ||
		!strings.Contains(last, `"kind":"Workspace"`) {
		t.Errorf("jsonl: %d lines, want %d; the last is %s", len(lines), n, last)
	}
}

func reported(t *testing.T, output string, story *terminaltest.Script, shown bool) (stdout, stderr string) {
	t.Helper()
	s, b := terminal.Test("", terminaltest.Now)
	r := New(s, format(t, output), terminaltest.Single(terminaltest.Alice))
	events := story.Events
	if shown {
		for _, e := range events {
			r.Handle(e)
		}
	}
	if err := printer.Report(s, format(t, output), result.Of(*events[len(events)-1].Result, wording.Batch{}),
		r.Shown()); err != nil {
		t.Fatal(err)
	}
	return b.Out.String(), b.Err.String()
}
