package result

import (
	"cmp"
	"slices"
	"strings"
	"testing"
	"time"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/terminal/style"
	"github.com/berthdev/berth/internal/terminal/terminaltest"
	"github.com/berthdev/berth/internal/terminal/wording"
)

// Nothing is proposed for what was never made.
func TestProposalsAfterFailures(t *testing.T) {
	pod, none := terminaltest.Workspace(v1.StagePulling, v1.Snapshot{}),
		terminaltest.Workspace(v1.StageUnknown, v1.Snapshot{})
	none.CreatedAt = time.Time{}
	for name, test := range map[string]struct {
		code string
		w    *v1.Workspace
		want []string
	}{
		"failed":                   {"FAILED", &pod, []string{"diagnose", "delete"}},
		"failed without a pod":     {"FAILED", &none, []string{"diagnose"}},
		"timed out":                {"DEADLINE_EXCEEDED", &pod, []string{"diagnose", "provision", "delete"}},
		"timed out, nothing made":  {"DEADLINE_EXCEEDED", &none, []string{"provision"}},
		"timed out, nothing known": {"DEADLINE_EXCEEDED", nil, nil},
		"interrupted":              {"INTERRUPTED", &pod, []string{"provision", "delete"}},
		"interrupted, nothing yet": {"TERMINATED", nil, nil},
		"refused":                  {"CONFLICT", nil, nil},
	} {
		got := proposed(Error{v1.Error{Code: test.code, Workspace: test.w}}.afterProvision(terminaltest.Alice))
		for i, line := range got {
			got[i] = strings.Fields(line)[1]
		}
		if !slices.Equal(got, test.want) {
			t.Errorf("%s: %q, want %q", name, got, test.want)
		}
	}
}

func proposed(cs []wording.Command) (lines []string) {
	for _, c := range cs {
		lines = append(lines, c.Line)
	}
	return lines
}

// What was looked for elsewhere is not to be looked for here next.
func TestProposedCommandsKeepTheFlags(t *testing.T) {
	title := terminaltest.Alice
	title.Flags = []string{wording.Flag("-n", "t1"), wording.Flag("--kubeconfig", "my file")}
	w := terminaltest.Workspace(v1.StageRunning, v1.Snapshot{})
	want := []string{"berth exec alice~dev -n t1 --kubeconfig 'my file'"}
	if got := proposed(Workspace{w}.Outcome(style.Page{}, title, 0).Next); !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// Where there is a client of SSH, a workspace that runs can be entered with that, too: behind the workspace, flags
// would be those of ssh. A command that enters it itself proposes neither.
func TestProposedForARunningWorkspace(t *testing.T) {
	w := Workspace{terminaltest.Workspace(v1.StageRunning, v1.Snapshot{})}
	for name, c := range map[string]struct {
		ssh, enters bool
		want        []string
	}{
		"no ssh":     {false, false, []string{"berth exec alice~dev -n t1"}},
		"ssh":        {true, false, []string{"berth exec alice~dev -n t1", "berth ssh -n t1 alice~dev"}},
		"is entered": {true, true, nil},
	} {
		title := terminaltest.Alice
		title.Flags, title.SSH, title.Enters = []string{wording.Flag("-n", "t1")}, c.ssh, c.enters
		if got := proposed(w.Outcome(style.Page{}, title, 0).Next); !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

// After a deletion something is proposed only about storage that was kept: how to use
// it, if its user string is known, and how to delete it.
func TestProposedAfterADeletion(t *testing.T) {
	kept := []v1.DeletedStorage{{Name: "home", Kept: true}, {Name: "data"}}
	for name, test := range map[string]struct {
		d     v1.Deletion
		typed string
		want  []string
	}{
		"nothing kept": {v1.Deletion{Storage: kept[1:]}, "alice~dev", nil},
		"kept": {
			v1.Deletion{Storage: kept},
			"alice~dev",
			[]string{"berth provision alice~dev", "berth delete alice~dev"},
		},
		"kept, by an ID": {v1.Deletion{Storage: kept}, "id/alice-1", []string{"berth delete id/alice-1"}},
		"kept, by name":  {v1.Deletion{Storage: kept}, "alice-1", []string{"berth delete alice-1"}},
	} {
		title := wording.Title{UserString: test.typed, ID: "alice-1"}
		if got := proposed(Deletion{test.d}.Outcome(style.Page{}, title, 0).Next); !slices.Equal(got, test.want) {
			t.Errorf("%s: %q, want %q", name, got, test.want)
		}
	}
}

// A diagnosis proposes the same as a status for a workspace whose pod is gone, is over, or was
// refused.
func TestProposalsOfADiagnosisWithoutAPod(t *testing.T) {
	for _, d := range []v1.Diagnosis{
		{Subject: "pod/alice-1", UserString: "alice", Blueprint: "default", Verdict: v1.VerdictGone},
		{Subject: "pod/alice-1", Blueprint: "default", Verdict: v1.VerdictGone},
		{Subject: "pod/alice-1", UserString: "alice", Blueprint: "default", Verdict: v1.VerdictFailed, Startable: true},
		// refused, or over
		{Subject: "pod/alice-1", Verdict: v1.VerdictFailed, Startable: true},
	} {
		name := cmp.Or(d.UserString, "alice-1")
		want := []string{"berth start " + name + " -n t", "berth delete " + name + " -n t"}
		if got := proposed(Diagnosis{Diagnosis: d}.next([]string{"-n t"})); !slices.Equal(got, want) {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// A workspace that is stopped is started, whichever command tells that.
func TestProposalOfADiagnosisOfStopped(t *testing.T) {
	d := v1.Diagnosis{Subject: "pod/alice-1", UserString: "alice", Blueprint: "default", Verdict: v1.VerdictStopped}
	if got := proposed(Diagnosis{Diagnosis: d}.next([]string{"-n t"})); !slices.Equal(got,
		[]string{"berth start alice -n t"}) {
		t.Errorf("%q", got)
	}
}

// What has no pod, or one that is over, is brought back first: nothing of it is lost. What fails
// with a pod that goes on is looked at.
func TestProposalsForWhatCanBeStarted(t *testing.T) {
	of := func(stage v1.Stage, gone, startable bool) Workspace {
		w := terminaltest.Workspace(stage, v1.Snapshot{Stage: stage, Gone: gone})
		w.Startable = startable
		return Workspace{w}
	}
	for name, test := range map[string]struct {
		w    Workspace
		want []string
	}{
		"its pod is gone":        {of(v1.StageUnknown, true, true), []string{"start"}},
		"nothing of it is left":  {of(v1.StageUnknown, true, false), nil},
		"its pod is over":        {of(v1.StageFailed, false, true), []string{"start", "diagnose", "delete"}},
		"its pod crashes":        {of(v1.StageFailed, false, false), []string{"diagnose", "delete"}},
		"its pod has ended well": {of(v1.StageStopped, false, true), []string{"start"}},
	} {
		var got []string
		for _, line := range proposed(test.w.next(nil)) {
			got = append(got, strings.Fields(line)[1])
		}
		if !slices.Equal(got, test.want) {
			t.Errorf("%s: %q, want %q", name, got, test.want)
		}
	}
}

// Below a list, which a terminal may cut, is what brings back those without a pod; scripts get the
// table alone.
func TestProposalsBelowAList(t *testing.T) {
	of := func(namespace, user string, gone bool) v1.Workspace {
		w := terminaltest.Workspace(v1.StageRunning, v1.Snapshot{Stage: v1.StageRunning, Gone: gone})
		w.Namespace, w.UserString, w.Startable = namespace, user, gone
		return w
	}
	all := []v1.Workspace{
		of("a", "alice~dev", true), of("a", "bob~dev", false), of("a", "müller~dev", true),
		of("b", "carl~dev", true), of("a", "dora", true), of("a", "erin", true),
	}
	for name, test := range map[string]struct {
		items []v1.Workspace
		table Table
		room  int
		want  string
	}{
		"those of one namespace": {all[:3], Table{}, 79, "berth start alice~dev 'müller~dev' -n a"},
		"three at most": {
			slices.Delete(slices.Clone(all), 3, 4),
			Table{},
			79,
			"berth start alice~dev 'müller~dev' dora -n a",
		},
		"of several namespaces": {all[3:4], Table{Namespaces: true}, 79, "berth start carl~dev --namespace b"},
		"all run":               {all[1:2], Table{}, 79, ""},
		"on a pipe":             {all, Table{}, 0, ""},
		"without headers":       {all, Table{NoHeaders: true}, 79, ""},
	} {
		page := style.Page{Width: 80, Room: test.room, Now: terminaltest.Now, Flags: []string{"-n a"}}
		lines, err := Workspaces{v1.WorkspaceList{Items: test.items}, test.table}.Text(page)
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(commandsIn(lines), ""); !strings.HasPrefix(got, test.want) || test.want == "" &&
			got != "" {
			t.Errorf("%s: %q, want %q", name, got, test.want)
		}
	}
}

// commandsIn are the lines that begin with a command.
func commandsIn(lines []string) (commands []string) {
	for _, line := range lines {
		if line = strings.TrimSpace(line); strings.HasPrefix(line, "berth ") {
			commands = append(commands, line)
		}
	}
	return commands
}
