package result

import (
	"testing"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/terminal/terminaltest"
	"github.com/berthdev/berth/internal/terminal/wording"
)

func TestNothingOfAMessageIsLost(t *testing.T) {
	cause := &v1.Cause{Message: "exit code 1", Container: "main"}
	w := terminaltest.Workspace(v1.StageFailed, v1.Snapshot{Cause: cause})
	for message, more := range map[string]bool{
		"exit code 1":            false,
		"main: exit code 1":      false,
		"workspace alice failed": true,
		"exit code 1; ignored: 3 warnings about volume \"data\"": true,
	} {
		e := Error{v1.Error{Code: "FAILED", Message: message, Workspace: &w}}
		if got := e.furtherMessage(); (got != "") != more {
			t.Errorf("%q: got %q", message, got)
		}
	}
}

// Where it has not ended, a tentative cause is left out; an end says all there is.
func TestTentativeCause(t *testing.T) {
	w := terminaltest.Workspace(v1.StageScheduling,
		v1.Snapshot{Message: "no node", Cause: &v1.Cause{Message: "no volume", Tentative: true}})
	if got := wording.CauseOrMessage(w.Snapshot); got != "no node" {
		t.Errorf("while it waits: %q", got)
	}
	if got := (Error{v1.Error{Code: "DEADLINE_EXCEEDED", Workspace: &w}}).
		shortMessage(); got != "still Scheduling: no volume" {
		t.Errorf("at the end: %q", got)
	}
}
