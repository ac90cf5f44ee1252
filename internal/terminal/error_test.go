package terminal

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/fault"
)

func several() v1.Error {
	f := fault.New(fault.InvalidArgument, "blueprint dev is not valid").WithHint("see them in place:\n  berth blueprint check dev")
	f.Problems = []string{"dev.yaml:7: image: no such\x1b[A tag", "dev.yaml:9: cpu: 2x is no quantity"}
	return ErrorDocument(fmt.Errorf("provision: %w", f))
}

func TestErrors(t *testing.T) {
	running := fault.New(fault.AlreadyExists, "workspace alice-3f9c2e1 is already running").
		WithHint("enter it with `berth exec alice~dev`, or pass --if-not-exists")
	docs := map[string]v1.Error{"running": ErrorDocument(running), "several": several(), "internal": ErrorDocument(errors.New("unexpected EOF"))}
	for name, doc := range docs {
		for _, output := range []string{"text", "wide", "name", "json", "yaml", "jsonl"} {
			s, b := Test("", now)
			if err := PrintError(s, format(t, output), doc); err != nil {
				t.Fatal(err)
			}
			document := output == "json" || output == "yaml" || output == "jsonl"
			if document && b.Err.Len() > 0 || !document && b.Out.Len() > 0 {
				t.Errorf("%s as %s: stdout %q, stderr %q", name, output, b.Out, b.Err)
			}
			if output == "text" || document {
				golden(t, "errors/"+name+"."+output, b.Out.String()+b.Err.String())
			}
		}
	}
	s, b := Test("", now)
	s.Err.Profile = Colour16
	if err := PrintError(s, Format{}, several()); err != nil {
		t.Fatal(err)
	}
	golden(t, "errors/several-colour.text", visible(b.Err.String()))
}

// An error is printed in exactly one place, and json is exactly one document.
func TestReportPrintsAnErrorOnce(t *testing.T) {
	for _, mode := range []Mode{ModePlain, ModeQuiet} {
		for _, output := range []string{"text", "name", "jsonpath=.id", "json", "yaml"} {
			for name, story := range map[string]*script{"failed": imageNotFound(), "refused": refused()} {
				s, b := Test("", now)
				r := Progress(s, mode, alice)
				events := story.through()
				for _, e := range events {
					r.Handle(e)
				}
				if err := Report(s, format(t, output), *events[len(events)-1].Result, r); err != nil {
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
		stdout := reported(t, output, Format{}.Mode())
		if stdout != want {
			t.Errorf("%s: got %q, want %q", output, stdout, want)
		}
	}
	var w v1.Workspace
	if err := json.Unmarshal([]byte(reported(t, "json", ModeQuiet)), &w); err != nil || w.ID != alice.ID {
		t.Errorf("json: %+v, %v", w, err)
	}
	lines := strings.Split(strings.TrimSpace(reported(t, "jsonl", format(t, "jsonl").Mode())), "\n")
	if last, n := lines[len(lines)-1], len(succeeding().through()); len(lines) != n || !strings.Contains(last, `"kind":"Workspace"`) {
		t.Errorf("jsonl: %d lines, want %d; the last is %s", len(lines), n, last)
	}
}

func reported(t *testing.T, output string, mode Mode) string {
	t.Helper()
	s, b := Test("", now)
	r := Progress(s, mode, alice)
	events := succeeding().through()
	for _, e := range events {
		r.Handle(e)
	}
	if err := Report(s, format(t, output), *events[len(events)-1].Result, r); err != nil {
		t.Fatal(err)
	}
	return b.Out.String()
}

func typeName(v any) string { return fmt.Sprintf("%T", v) }
