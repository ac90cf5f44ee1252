package printer

import (
	"strings"
	"testing"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/terminal"
	"github.com/berthdev/berth/internal/terminal/style"
	"github.com/berthdev/berth/internal/terminal/terminaltest"
	"github.com/berthdev/berth/internal/terminal/wording"
)

func TestStatusWithEvents(t *testing.T) {
	w := terminaltest.WithEvents()
	w.Workload = "deployment/web"
	w.Replicas = []v1.Replica{{Name: "web-1", Stage: v1.StageFailed, Message: "exit code 1", Node: "node-1"}, {Name: "web-2", Stage: v1.StageRunning, Node: "node-2"}}
	terminaltest.Golden(t, "status/events-pipe.txt", printed(t, "text", &w, 0, style.NoColour))
	terminaltest.Golden(t, "status/events-80.txt", printed(t, "text", &w, 80, style.NoColour))
	terminaltest.Golden(t, "status/events.json", printed(t, "json", &w, 0, style.NoColour))
}

func TestListLooks(t *testing.T) {
	s, b := terminal.Test("", terminaltest.Now)
	if err := PrintList(s, format(t, "text"), terminaltest.Fleet(), List{Namespaces: true}); err != nil {
		t.Fatal(err)
	}
	if err := PrintList(s, format(t, "text"), terminaltest.Fleet(), List{NoHeaders: true}); err != nil {
		t.Fatal(err)
	}
	terminaltest.Golden(t, "status/looks.txt", b.Out.String())
}

// What was looked for elsewhere is not to be looked for here next.
func TestStatusProposesCommandsWithTheFlags(t *testing.T) {
	title := terminaltest.Alice
	title.Flags = []string{wording.Flag("-n", "t1"), wording.Flag("--kubeconfig", "my file")}
	w := terminaltest.Workspace(v1.StageRunning, v1.Snapshot{})
	const want = "berth exec alice~dev -n t1 --kubeconfig 'my file'"
	s, b := terminal.Test("", terminaltest.Now)
	s.Flags = title.Flags
	if err := Print(s, Format{}, &w); err != nil {
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
	d := v1.Diagnosis{TypeMeta: v1.Kind(v1.KindDiagnosis), Verdict: v1.VerdictWaiting, Stage: w.Stage, Cause: cause, Hint: "no volume"}
	for name, document := range map[string]any{"list": &v1.WorkspaceList{Items: []v1.Workspace{w}}, "workspace": &w, "diagnosis": &d} {
		for _, format := range []string{"text", "json"} {
			for _, tentative := range []bool{true, false} {
				cause.Tentative = tentative
				text := printed(t, format, document, 0, style.NoColour)
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
