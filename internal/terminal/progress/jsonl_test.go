package progress

import (
	"bufio"
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/berthdev/berth/internal/goldentest"
	"github.com/berthdev/berth/internal/terminal"
	"github.com/berthdev/berth/internal/terminal/printer"
	"github.com/berthdev/berth/internal/terminal/result"
	"github.com/berthdev/berth/internal/terminal/terminaltest"
	"github.com/berthdev/berth/internal/terminal/wording"
)

func TestJSONLinesTranscript(t *testing.T) {
	for name, s := range map[string]*terminaltest.Script{
		"success":         terminaltest.Succeeding(),
		"image-not-found": terminaltest.ImageNotFound(), "deleted": terminaltest.Deleted(true),
		"scripts": terminaltest.Scripts(),
	} {
		t.Run(name, func(t *testing.T) {
			stdout, stderr := render(t, s, "jsonl")
			if stderr != "" {
				t.Errorf("on stderr: %q", stderr)
			}
			goldentest.Check(t, "jsonl/"+name+".jsonl", stdout)
		})
	}
}

// The last line is what --output json prints.
func TestLastJSONLineIsTheDocument(t *testing.T) {
	for name, s := range map[string]*terminaltest.Script{
		"Workspace": terminaltest.Succeeding(),
		"Error":     terminaltest.CrashLoop(), "Deletion": terminaltest.Deleted(true),
	} {
		stdout, _ := render(t, s, "jsonl")
		var last string
		for sc := bufio.NewScanner(strings.NewReader(stdout)); sc.Scan(); {
			last = sc.Text()
		}
		streams, b := terminal.Test("", terminaltest.T0)
		events := s.Events
		if err := printer.Print(streams, format(t, "json"),
			result.Of(*events[len(events)-1].Result, wording.Batch{})); err != nil {
			t.Fatal(err)
		}
		var want, got map[string]any
		if err := json.Unmarshal(b.Out.Bytes(), &want); err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal([]byte(last), &got); err != nil {
			t.Fatal(err)
		}
		if got["kind"] != name || got["apiVersion"] != "berth.dev/v1" {
			t.Errorf("last line is %v/%v, want a %s", got["apiVersion"], got["kind"], name)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-json +jsonl):\n%s", name, diff)
		}
	}
}

func format(t *testing.T, s string) printer.Format {
	t.Helper()
	f, err := printer.ParseFormat(s)
	if err != nil {
		t.Fatal(err)
	}
	return f
}
