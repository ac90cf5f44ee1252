package terminaltest

import (
	"time"

	v1 "github.com/berthdev/berth/api/v1"
)

// Script is the event of an init script.
func (s *Script) Script(after time.Duration, number int, name string, state v1.ScriptState, seconds float64,
	lines ...string,
) {
	script := v1.Script{
		Name: name, Number: number, State: state, Object: "pod/alice-3f9c2e1:k8shell-main", At: T0,
		Seconds: seconds, Lines: lines,
	}
	if state == v1.ScriptFailed {
		script.ExitCode = new(7)
	}
	s.Add(after, v1.Event{Script: &script})
}

// said is what a script has said that has failed; some of it is hostile.
var said = []string{
	"npm error code E404", "npm error \x1b[31m404\x1b[0m\x1b[2A  not found: left-pad@\u202e9",
	"a line that is longer than most terminals are wide, so that it has to be cut or wrapped somewhere: " +
		string(make([]byte, 8)) + "here",
}

// scripts is a workspace whose init scripts run: one has run before, one has failed.
func scripts() *Script {
	s := Opening()
	s.Stage(300*ms, v1.StageScheduling, v1.Snapshot{})
	s.Stage(400*ms, v1.StageStarting,
		v1.Snapshot{Node: "node-2", Message: "k8shell-main is not ready", Containers: Containers("done", "running")})
	s.Script(500*ms, 1, "repository", v1.ScriptRunning, 0)
	s.Script(1*sc, 1, "repository", v1.ScriptDone, 0.5)
	s.Script(1*sc, 2, "dotfiles", v1.ScriptSkipped, 0)
	s.Script(1*sc, 3, "dependencies", v1.ScriptRunning, 0)
	s.Script(2*sc, 3, "dependencies", v1.ScriptRunning, 0, "added 12 packages, and audited 13 packages in 2s \x1b[2J")
	s.Script(7*sc, 3, "dependencies", v1.ScriptFailed, 6.01, said...)
	return s
}

// Scripts is one whose init scripts run, of which one fails: it runs nevertheless.
func Scripts() *Script {
	s := scripts()
	s.Script(7*sc, 4, "last", v1.ScriptRunning, 0)
	s.Script(7500*ms, 4, "last", v1.ScriptDone, 0.5)
	s.Stage(8*sc, v1.StageRunning, v1.Snapshot{Node: "node-2", Containers: Containers("done", "ready")})
	w := Workspace(v1.StageRunning, v1.Snapshot{Node: "node-2", Containers: Containers("done", "ready")})
	w.Timing = &v1.Timing{
		Seconds: 8,
		Stages:  []v1.StepTiming{{Name: "Scheduling", Seconds: 0.1}, {Name: "Starting", Seconds: 7.6}},
	}
	w.Scripts = s.scripts()
	s.Add(8*sc, v1.Event{Result: &v1.Result{Workspace: &w}})
	return s
}

// StrictScripts is the same where that is a failure.
func StrictScripts() *Script {
	s := scripts()
	w := Workspace(v1.StageStarting,
		v1.Snapshot{Node: "node-2", Message: "k8shell-main is not ready", Containers: Containers("done", "running")})
	w.Scripts = s.scripts()
	s.Add(7100*ms, v1.Event{Result: &v1.Result{Error: &v1.Error{
		Code: "FAILED", Reason: "INIT_SCRIPT_FAILED", ExitStatus: 3,
		Message: "init script dependencies failed with exit code 7",
		Hint: "see all of its output: `berth logs id/alice-3f9c2e1 --namespace workspaces`; it runs again when " +
			"the container is started again",
		Workspace: &w, Logs: &v1.LogTail{Container: "k8shell-main", Script: "dependencies", Lines: said},
		Left: v1.LeftKept,
	}}})
	return s
}

// scripts are the scripts of the story as a document has them.
func (s *Script) scripts() (all []v1.Script) {
	for _, e := range s.Events {
		if e.Script != nil && (e.Script.State != v1.ScriptRunning || len(e.Script.Lines) == 0) {
			all = append(all[:min(len(all), e.Script.Number-1)], *e.Script)
		}
	}
	return all
}
