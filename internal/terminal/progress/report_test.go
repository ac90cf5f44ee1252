package progress

import (
	"encoding/json"
	"strings"
	"testing"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/terminal"
	"github.com/berthdev/berth/internal/terminal/printer"
	"github.com/berthdev/berth/internal/terminal/terminaltest"
)

// An error is printed in exactly one place, and json is exactly one document.
func TestReportPrintsAnErrorOnce(t *testing.T) {
	for _, mode := range []Mode{ModePlain, ModeQuiet} {
		for _, output := range []string{"text", "name", "jsonpath=.id", "json", "yaml"} {
			for name, story := range map[string]*terminaltest.Script{"failed": terminaltest.ImageNotFound(), "refused": terminaltest.Refused()} {
				s, b := terminal.Test("", terminaltest.Now)
				r := New(s, mode, terminaltest.Alice)
				events := story.Through()
				for _, e := range events {
					r.Handle(e)
				}
				if err := printer.Report(s, format(t, output), *events[len(events)-1].Result, r.Shown()); err != nil {
					t.Fatal(err)
				}
				code := map[string]string{"failed": "FAILED", "refused": "CONFLICT"}[name]
				inText, inDoc := strings.Count(b.Err.String(), code), strings.Count(b.Out.String(), code)
				wantText, wantDoc := 1, 0
				if output == "json" || output == "yaml" {
					wantText, wantDoc = map[Mode]int{ModePlain: 1}[mode], 1
				}
				if inText != wantText || inDoc != wantDoc {
					t.Errorf("%s, %s, %s: %d times on stderr, %d on stdout:\n%s%s", name, mode, output, inText, inDoc, b.Err, b.Out)
				}
			}
		}
	}
}

func TestReportPrintsTheDocument(t *testing.T) {
	for output, want := range map[string]string{"text": "", "wide": "", "name": "alice-3f9c2e1\n", "jsonpath={.stage}": "Running"} {
		stdout := reported(t, output, ModeOf(printer.Format{}))
		if stdout != want {
			t.Errorf("%s: got %q, want %q", output, stdout, want)
		}
	}
	var w v1.Workspace
	if err := json.Unmarshal([]byte(reported(t, "json", ModeQuiet)), &w); err != nil || w.ID != terminaltest.Alice.ID {
		t.Errorf("json: %+v, %v", w, err)
	}
	lines := strings.Split(strings.TrimSpace(reported(t, "jsonl", ModeOf(format(t, "jsonl")))), "\n")
	if last, n := lines[len(lines)-1], len(terminaltest.Succeeding().Through()); len(lines) != n || !strings.Contains(last, `"kind":"Workspace"`) {
		t.Errorf("jsonl: %d lines, want %d; the last is %s", len(lines), n, last)
	}
}

func reported(t *testing.T, output string, mode Mode) string {
	t.Helper()
	s, b := terminal.Test("", terminaltest.Now)
	r := New(s, mode, terminaltest.Alice)
	events := terminaltest.Succeeding().Through()
	for _, e := range events {
		r.Handle(e)
	}
	if err := printer.Report(s, format(t, output), *events[len(events)-1].Result, r.Shown()); err != nil {
		t.Fatal(err)
	}
	return b.Out.String()
}
