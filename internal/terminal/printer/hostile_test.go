package printer_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/terminal"
	"github.com/berthdev/berth/internal/terminal/printer"
	"github.com/berthdev/berth/internal/terminal/result"
	"github.com/berthdev/berth/internal/terminal/style"
	"github.com/berthdev/berth/internal/terminal/terminaltest"
)

// obeyed is the first character of a text that a terminal obeys, but for the line
// breaks.
func obeyed(text string) (found []rune) {
	for _, r := range text {
		if r != '\n' && unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) || r == '\u2028' || r == '\u2029' {
			found = append(found, r)
		}
	}
	return found
}

// Whatever an error is about, as text it has the lines that are berth's, and nothing
// that a terminal obeys; as a document it is valid, and means the same.
func FuzzErrors(f *testing.F) {
	for _, seed := range []string{
		"alice", "bob\nerror: all is lost (INTERNAL)\nhint: curl evil | sh", "\x1b[31mred\x1b]0;title\a",
		"\u0085\u009b31m\x7f\x00", "\u202eevil\u2066x\u2069", "a\u2028b\u2029c",
		"\r", "\xff\xfe", strings.Repeat("9", 100_000), "<b>&amp;", "- a: b\n  c: 'd'", "yes", "{}", "\ufeff", "\t",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		err := fault.New(fault.Conflict, "%s works on %q: %w", text, text, errors.New(text)).WithHint("ask %s", text)
		err.Problems = []string{text, "second"}
		document := *result.NewError(err)
		s, b := terminal.Test("", terminaltest.Now)
		if err := printer.PrintError(s, printer.Format{}, document); err != nil {
			t.Fatal(err)
		}
		printed := b.Err.String()
		if bad := obeyed(printed); len(bad) > 0 {
			t.Errorf("%q in %.500q", bad, printed)
		}
		if lines := strings.Count(printed, "\n"); lines != 4 {
			t.Errorf("%d lines: %.500q", lines, printed)
		}
		if len(printed) > 16<<10 {
			t.Errorf("%d bytes were printed", len(printed))
		}
		for _, output := range []string{"json", "jsonl", "yaml"} {
			s, b := terminal.Test("", terminaltest.Now)
			if err := printer.PrintError(s, format(t, output), document); err != nil {
				t.Fatal(err)
			}
			printed := b.Out.String()
			if bad := obeyed(printed); len(bad) > 0 {
				t.Errorf("%s: %q in %.500q", output, bad, printed)
			}
			var again v1.Error
			decode := json.Unmarshal
			if output == "yaml" {
				decode = func(text []byte, into any) error { return yaml.Unmarshal(text, into) }
			}
			if err := decode([]byte(printed), &again); err != nil {
				t.Fatalf("%s: %v in %.500q", output, err, printed)
			}
			again.TypeMeta = document.TypeMeta
			if diff := cmp.Diff(document, again); diff != "" && utf8.ValidString(text) {
				t.Errorf("%s (-said +printed): %.1000s", output, diff)
			}
		}
	})
}

// A list is harmless in every format.
func TestHostileListsAreHarmless(t *testing.T) {
	hostile := *terminaltest.HostileWorkspace()
	hostile.Message, hostile.ID = "a\u009b31m\u202eb\u0085\x7f", "x\u009b"
	list := result.Workspaces{WorkspaceList: v1.WorkspaceList{Items: []v1.Workspace{hostile}}}
	for _, output := range []string{"json", "jsonl", "yaml", "text", "wide"} {
		s, b := terminal.Test("", terminaltest.Now)
		if err := printer.Print(s, format(t, output), list); err != nil {
			t.Fatal(err)
		}
		if bad := obeyed(b.Out.String()); len(bad) > 0 {
			t.Errorf("%s: %q in %q", output, bad, b.Out)
		}
	}
	if line := printer.JSONLine(list); len(obeyed(line)) > 0 || strings.Count(line, "\n") != 1 {
		t.Errorf("%q", line)
	}
}

// A blueprint is shown whatever its texts have in them.
func TestHostileBlueprint(t *testing.T) {
	b := result.Blueprint{Blueprint: v1.Blueprint{
		Name: "x",
		Spec: map[string]any{
			"name": "x", "splash": "a\x7f\u0085\u202eb\u2028c",
			"env": map[string]any{"A\u009b": "\x1b"},
		},
	}}
	for _, output := range []string{"text", "json", "yaml"} {
		s, buffers := terminal.Test("", terminaltest.Now)
		if err := printer.Print(s, format(t, output), b); err != nil {
			t.Fatalf("%s: %v", output, err)
		}
		if bad := obeyed(buffers.Out.String()); len(bad) > 0 {
			t.Errorf("%s: %q in %q", output, bad, buffers.Out)
		}
	}
}

// What an expression picks out is harmless at a terminal; a script gets what is there.
func TestHostileExpressions(t *testing.T) {
	hostile := *terminaltest.HostileWorkspace()
	hostile.Message = "a\x1b]0;PWNED\a\x1b[31m\u202eb\u009b"
	list := result.Workspaces{WorkspaceList: v1.WorkspaceList{Items: []v1.Workspace{hostile}}}
	for _, output := range []string{"jsonpath={.items[*].message}", "go-template={{range .items}}{{.message}}{{end}}"} {
		if text := printed(t, output, list, 80, style.NoColour); text != "ab" {
			t.Errorf("%s at a terminal: %q", output, text)
		}
		if text := printed(t, output, list, 0, style.NoColour); text != hostile.Message {
			t.Errorf("%s for a script: %q", output, text)
		}
	}
}
