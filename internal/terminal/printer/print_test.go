package printer

import (
	"strings"
	"testing"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/terminal"
	"github.com/berthdev/berth/internal/terminal/style"
	"github.com/berthdev/berth/internal/terminal/terminaltest"
)

// printed prints to a terminal of a width, or to a pipe if it is 0.
func printed(t *testing.T, output string, doc any, width int, profile style.Profile) string {
	t.Helper()
	s, b := terminal.Test("", terminaltest.Now)
	if width > 0 {
		s.Out.TTY, s.Out.Size = true, func() (int, int) { return width, 40 }
	}
	s.Out.Profile = profile
	if err := Print(s, format(t, output), doc); err != nil {
		t.Fatal(err)
	}
	return b.Out.String()
}

func TestStatusTable(t *testing.T) {
	tests := []struct {
		name, output string
		width        int
		profile      style.Profile
	}{
		{"pipe", "text", 0, style.NoColour},
		{"pipe-wide", "wide", 0, style.NoColour},
		{"60", "text", 60, style.NoColour},
		{"80", "text", 80, style.NoColour},
		{"120", "text", 120, style.NoColour},
		{"120-wide", "wide", 120, style.NoColour},
		{"200-wide", "wide", 200, style.NoColour},
		{"120-colour", "text", 120, style.Colour256},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := printed(t, tt.output, terminaltest.Fleet(), tt.width, tt.profile)
			for line := range strings.SplitSeq(got, "\n") {
				if tt.width > 0 && style.Width(line) >= tt.width {
					t.Errorf("%d columns: %q", style.Width(line), line)
				}
			}
			terminaltest.Golden(t, "status/"+tt.name+".txt", terminaltest.Visible(got))
		})
	}
}

func TestStatusTableOfOrdinaryNames(t *testing.T) {
	list := terminaltest.Fleet()
	list.Items = list.Items[:3]
	terminaltest.Golden(t, "status/ordinary-80.txt", printed(t, "text", list, 80, style.NoColour))
}

func TestStatusOfOne(t *testing.T) {
	for i, name := range []string{"running", "pulling", "failed", "waiting"} {
		t.Run(name, func(t *testing.T) {
			terminaltest.Golden(t, "status/one-"+name+".txt", terminaltest.Visible(printed(t, "text", &terminaltest.Fleet().Items[i], 100, style.NoColour)))
			terminaltest.Golden(t, "status/one-"+name+"-colour.txt", terminaltest.Visible(printed(t, "wide", &terminaltest.Fleet().Items[i], 100, style.Colour16)))
		})
	}
}

func TestDocuments(t *testing.T) {
	list := terminaltest.Fleet()
	list.Items = list.Items[:2]
	for _, output := range []string{
		"json", "yaml", "jsonl", "name", "jsonpath={.items[*].id}", "jsonpath=.items[1].stage", "jsonpath={.nothing}",
		`go-template={{range .items}}{{.owner}} {{end}}`,
	} {
		name := strings.NewReplacer("{", "", "}", "", " ", "", "*", "all", "=", "-", ".", "-", "[", "", "]", "").Replace(output)
		t.Run(name, func(t *testing.T) {
			terminaltest.Golden(t, "documents/"+name, printed(t, output, list, 0, style.Colour256))
		})
	}
}

func TestDocumentsSayWhatTheyAre(t *testing.T) {
	for _, doc := range []any{&v1.Workspace{}, &v1.WorkspaceList{}, &v1.Deletion{}, &v1.Diagnosis{}, &v1.Version{}, &v1.Error{}} {
		got := printed(t, "jsonpath={.apiVersion}/{.kind}", doc, 0, style.NoColour)
		if want := strings.TrimPrefix(strings.Replace(typeName(doc), "*v1.", "berth.dev/v1/", 1), "*"); got != want {
			t.Errorf("%T says %q, want %q", doc, got, want)
		}
	}
	if got := printed(t, "json", &v1.WorkspaceList{}, 0, style.NoColour); !strings.Contains(got, `"items": []`) {
		t.Errorf("an empty list is no list: %s", got)
	}
}

func TestTextOfOtherDocuments(t *testing.T) {
	for want, doc := range map[string]any{
		"alice-3f9c2e1 deleted\n":                    &v1.Deletion{ID: "alice-3f9c2e1"},
		"berth 1.2.3 (abc1234) linux/amd64 go1.26\n": &v1.Version{Version: "1.2.3", Commit: "abc1234", Platform: "linux/amd64", GoVersion: "go1.26"},
		"":             &v1.WorkspaceList{},
		"answer: 42\n": map[string]int{"answer": 42},
	} {
		if got := printed(t, "text", doc, 0, style.NoColour); got != want {
			t.Errorf("%T: got %q, want %q", doc, got, want)
		}
	}
}

func TestParseFormat(t *testing.T) {
	for _, s := range []string{"", "text", "json", "yaml", "jsonl", "wide", "name", "jsonpath={.id}", "jsonpath=.id", "jsonpath=id", "go-template={{.id}}"} {
		if _, err := ParseFormat(s); err != nil {
			t.Errorf("%q: %v", s, err)
		}
	}
	for _, s := range []string{"xml", "JSON", "json=x", "jsonpath", "jsonpath=", "jsonpath={.a", "go-template", "go-template={{", "table"} {
		_, err := ParseFormat(s)
		if fault.CodeOf(err) != fault.InvalidArgument || fault.From(err).Hint == "" {
			t.Errorf("%q: got %v, want INVALID_ARGUMENT with a hint", s, err)
		}
	}
	_, err := ParseFormat("xml")
	for _, f := range Formats() {
		if !strings.Contains(fault.From(err).Hint, f) {
			t.Errorf("the hint %q does not name %s", fault.From(err).Hint, f)
		}
	}
}

func TestExpressionsCannotMoveTheCursor(t *testing.T) {
	doc := terminaltest.Fleet()
	for width, want := range map[int]bool{0: true, 80: false} {
		got := printed(t, `go-template={{range .items}}{{.message}}{{"\t|\n"}}{{end}}`, doc, width, style.NoColour)
		if strings.Contains(got, "\x1b") != want || !strings.Contains(got, "\t|\n") {
			t.Errorf("terminal of %d columns: %q", width, got)
		}
	}
}

func format(t *testing.T, s string) Format {
	t.Helper()
	f, err := ParseFormat(s)
	if err != nil {
		t.Fatal(err)
	}
	return f
}
