package printer_test

import (
	"strings"
	"testing"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/goldentest"
	"github.com/berthdev/berth/internal/terminal"
	"github.com/berthdev/berth/internal/terminal/printer"
	"github.com/berthdev/berth/internal/terminal/result"
	"github.com/berthdev/berth/internal/terminal/style"
	"github.com/berthdev/berth/internal/terminal/terminaltest"
)

// printed prints to a terminal of a width, or to a pipe if it is 0.
func printed(t *testing.T, output string, doc result.Kind, width int, profile style.Profile) string {
	t.Helper()
	s, b := terminal.Test("", terminaltest.Now)
	if width > 0 {
		s.Out.TTY, s.Out.Size = true, func() (int, int) { return width, 40 }
	}
	s.Out.Profile = profile
	if err := printer.Print(s, format(t, output), doc); err != nil {
		t.Fatal(err)
	}
	return b.Out.String()
}

func TestDocuments(t *testing.T) {
	list := terminaltest.Fleet()
	list.Items = list.Items[:2]
	for _, output := range []string{
		"json", "yaml", "jsonl", "name", "jsonpath={.items[*].id}", "jsonpath=.items[1].stage", "jsonpath={.nothing}",
		`go-template={{range .items}}{{.owner}} {{end}}`,
	} {
		name := strings.NewReplacer("{", "", "}", "", " ", "", "*", "all", "=", "-", ".", "-", "[", "", "]", "").
			Replace(output)
		t.Run(name, func(t *testing.T) {
			goldentest.Check(t, "documents/"+name,
				printed(t, output, result.Workspaces{WorkspaceList: *list}, 0, style.Colour256))
		})
	}
}

func TestDocumentsSayWhatTheyAre(t *testing.T) {
	for want, doc := range map[string]result.Kind{
		"Workspace": result.Workspace{}, "WorkspaceList": result.Workspaces{}, "Deletion": result.Deletion{},
		"Diagnosis": result.Diagnosis{},
		"Version":   result.Version{}, "Error": result.Error{}, "Job": result.Job{}, "JobList": result.Jobs{},
		"Checkup":   result.Checkup{},
		"Blueprint": result.Blueprint{}, "BlueprintList": result.Blueprints{},
		"BlueprintCheck":      result.BlueprintCheck{},
		"BlueprintConversion": result.BlueprintConversion{},
		"Resolution":          result.Resolution{},
		"ProvisionSummary":    result.ProvisionSummary{}, "DeletionSummary": result.DeletionSummary{},
	} {
		if got := printed(t, "jsonpath={.apiVersion}/{.kind}", doc, 0, style.NoColour); got != "berth.dev/v1/"+want {
			t.Errorf("%T says %q, want %q", doc, got, want)
		}
	}
	for _, list := range []result.Kind{
		result.Workspaces{},
		result.Jobs{},
		result.Blueprints{},
		result.ProvisionSummary{},
		result.DeletionSummary{},
		result.Checkup{},
	} {
		if got := printed(t, "json", list, 0, style.NoColour); !strings.Contains(got, `"items": []`) {
			t.Errorf("an empty list is not printed as a list: %s", got)
		}
	}
}

func TestTextOfOtherDocuments(t *testing.T) {
	for want, doc := range map[string]result.Kind{
		"alice-3f9c2e1 deleted\n": result.Deletion{Deletion: v1.Deletion{ID: "alice-3f9c2e1"}},
		"berth 1.2.3 (abc1234) linux/amd64 go1.26\n": result.Version{Version: v1.Version{
			Version: "1.2.3",
			Commit:  "abc1234", Platform: "linux/amd64", GoVersion: "go1.26",
		}},
		"": result.Workspaces{},
	} {
		if got := printed(t, "text", doc, 0, style.NoColour); got != want {
			t.Errorf("%T: got %q, want %q", doc, got, want)
		}
	}
}

func TestParseFormat(t *testing.T) {
	for _, s := range []string{
		"", "text", "json", "yaml", "jsonl", "wide", "name", "jsonpath={.id}", "jsonpath=.id",
		"jsonpath=id", "go-template={{.id}}",
	} {
		if _, err := printer.ParseFormat(s); err != nil {
			t.Errorf("%q: %v", s, err)
		}
	}
	for _, s := range []string{
		"xml", "JSON", "json=x", "jsonpath", "jsonpath=", "jsonpath={.a", "go-template",
		"go-template={{", "table",
	} {
		_, err := printer.ParseFormat(s)
		if fault.CodeOf(err) != fault.InvalidArgument || fault.From(err).Hint == "" {
			t.Errorf("%q: got %v, want INVALID_ARGUMENT with a hint", s, err)
		}
	}
	_, err := printer.ParseFormat("xml")
	for _, f := range []string{"text", "json", "yaml", "jsonl", "wide", "name", "jsonpath=", "go-template="} {
		if !strings.Contains(fault.From(err).Hint, f) {
			t.Errorf("the hint %q does not name %s", fault.From(err).Hint, f)
		}
	}
}

func TestExpressionsCannotMoveTheCursor(t *testing.T) {
	doc := result.Workspaces{WorkspaceList: *terminaltest.Fleet()}
	for width, want := range map[int]bool{0: true, 80: false} {
		got := printed(t, `go-template={{range .items}}{{.message}}{{"\t|\n"}}{{end}}`, doc, width, style.NoColour)
		if strings.Contains(got, "\x1b") != want || !strings.Contains(got, "\t|\n") {
			t.Errorf("terminal of %d columns: %q", width, got)
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
