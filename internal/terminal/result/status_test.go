package result_test

import (
	"strings"
	"testing"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/goldentest"
	"github.com/berthdev/berth/internal/terminal"
	"github.com/berthdev/berth/internal/terminal/printer"
	"github.com/berthdev/berth/internal/terminal/result"
	"github.com/berthdev/berth/internal/terminal/style"
	"github.com/berthdev/berth/internal/terminal/terminaltest"
	"github.com/berthdev/berth/internal/terminal/wording"
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

func format(t *testing.T, s string) printer.Format {
	t.Helper()
	f, err := printer.ParseFormat(s)
	if err != nil {
		t.Fatal(err)
	}
	return f
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
			got := printed(t, tt.output, result.Workspaces{WorkspaceList: *terminaltest.Fleet()}, tt.width, tt.profile)
			for line := range strings.SplitSeq(got, "\n") {
				if tt.width > 0 && tt.output != "wide" && style.Width(line) >= tt.width {
					t.Errorf("%d columns: %q", style.Width(line), line)
				}
			}
			goldentest.Check(t, "status/"+tt.name+".txt", terminaltest.Visible(got))
		})
	}
}

func TestStatusTableOfOrdinaryNames(t *testing.T) {
	list := terminaltest.Fleet()
	list.Items = list.Items[:3]
	goldentest.Check(t, "status/ordinary-80.txt",
		printed(t, "text", result.Workspaces{WorkspaceList: *list}, 80, style.NoColour))
}

func TestStatusOfOne(t *testing.T) {
	for i, name := range []string{"running", "pulling", "failed", "waiting"} {
		t.Run(name, func(t *testing.T) {
			goldentest.Check(t, "status/one-"+name+".txt",
				terminaltest.Visible(printed(t, "text", result.Workspace{Workspace: terminaltest.Fleet().Items[i]}, 100,
					style.NoColour)))
			goldentest.Check(t, "status/one-"+name+"-colour.txt",
				terminaltest.Visible(printed(t, "wide", result.Workspace{Workspace: terminaltest.Fleet().Items[i]}, 100,
					style.Colour16)))
		})
	}
}

// The init scripts are listed, and what those that have failed have said last.
func TestStatusWithScripts(t *testing.T) {
	events := terminaltest.Scripts().Events
	w := *events[len(events)-1].Result.Workspace
	w.ScriptsUnread = "the beginning of the log is gone"
	goldentest.Check(t, "status/scripts-80.txt", printed(t, "text", result.Workspace{Workspace: w}, 80, style.NoColour))
	w.Scripts[1].Object = "pod/another:k8shell-main"
	goldentest.Check(t, "status/scripts-pipe.txt", printed(t, "text", result.Workspace{Workspace: w}, 0,
		style.NoColour))
}

func TestStatusWithEvents(t *testing.T) {
	w := terminaltest.WithEvents()
	w.Workload = "deployment/web"
	w.Replicas = []v1.Replica{
		{Name: "web-1", Stage: v1.StageFailed, Message: "exit code 1", Node: "node-1"},
		{Name: "web-2", Stage: v1.StageRunning, Node: "node-2"},
	}
	goldentest.Check(t, "status/events-pipe.txt", printed(t, "text", result.Workspace{Workspace: w}, 0, style.NoColour))
	goldentest.Check(t, "status/events-80.txt", printed(t, "text", result.Workspace{Workspace: w}, 80, style.NoColour))
	goldentest.Check(t, "status/events.json", printed(t, "json", result.Workspace{Workspace: w}, 0, style.NoColour))
}

func TestListLooks(t *testing.T) {
	s, b := terminal.Test("", terminaltest.Now)
	if err := printer.Print(s, format(t, "text"),
		result.Workspaces{WorkspaceList: *terminaltest.Fleet(), Table: result.Table{Namespaces: true}}); err != nil {
		t.Fatal(err)
	}
	if err := printer.Print(s, format(t, "text"),
		result.Workspaces{WorkspaceList: *terminaltest.Fleet(), Table: result.Table{NoHeaders: true}}); err != nil {
		t.Fatal(err)
	}
	goldentest.Check(t, "status/looks.txt", b.Out.String())
}

// What was looked for elsewhere is not to be looked for here next.
func TestStatusProposesCommandsWithTheFlags(t *testing.T) {
	title := terminaltest.Alice
	title.Flags = []string{wording.Flag("-n", "t1"), wording.Flag("--kubeconfig", "my file")}
	w := terminaltest.Workspace(v1.StageRunning, v1.Snapshot{})
	const want = "berth exec alice~dev -n t1 --kubeconfig 'my file'"
	s, b := terminal.Test("", terminaltest.Now)
	s.Flags = title.Flags
	if err := printer.Print(s, printer.Format{}, result.Workspace{Workspace: w}); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(b.Out.String(), want+"\n") {
		t.Errorf("status does not propose %q:\n%s", want, b.Out)
	}
}

// Most of what a stage has waited for since a moment passes: people read of it
// when it has lasted, programs from the start.
func TestTentativeCauses(t *testing.T) {
	cause := &v1.Cause{Code: "Unschedulable", Message: "no volume", Tentative: true}
	w := terminaltest.Workspace(v1.StageScheduling, v1.Snapshot{Cause: cause})
	d := v1.Diagnosis{Verdict: v1.VerdictWaiting, Stage: w.Stage, Cause: cause, Hint: "no volume"}
	for name, document := range map[string]func() result.Kind{
		"list": func() result.Kind {
			return result.Workspaces{WorkspaceList: v1.WorkspaceList{Items: []v1.Workspace{w}}}
		},
		"workspace": func() result.Kind { return result.Workspace{Workspace: w} },
		"diagnosis": func() result.Kind { return result.Diagnosis{Diagnosis: d} },
	} {
		for _, format := range []string{"text", "json"} {
			for _, tentative := range []bool{true, false} {
				cause.Tentative = tentative
				text := printed(t, format, document(), 0, style.NoColour)
				if shown := strings.Contains(text, "no volume"); shown != (format == "json" || !tentative) {
					t.Errorf("%s as %s, tentative %v: shown %v\n%s", name, format, tentative, shown, text)
				}
				if marked := strings.Contains(text, `"tentative": true`); marked != (format == "json" && tentative) {
					t.Errorf("%s as %s, tentative %v: marked %v\n%s", name, format, tentative, marked, text)
				}
			}
		}
	}
}
