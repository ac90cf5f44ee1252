package live

import (
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/terminal/style"
	"github.com/berthdev/berth/internal/terminal/terminaltest"
)

func TestRemovalsAtATerminal(t *testing.T) {
	b, events := terminaltest.Removals()
	c := newBatchModel(b)
	for _, e := range events {
		c.handle(e)
	}
	text := ansi.Strip(strings.Join(c.final(view{Page: style.Page{
		Width: 100, Now: terminaltest.T0,
		Styles: terminaltest.ColourLook.Styles(),
	}}), "\n"))
	for _, want := range []string{
		"4 workspaces in workspaces", "✔ a  Deleted", "6 objects", "1 object, the pod may still be terminating",
		"not found",
		"✘ d  Failed", "2 of 4 deleted after 1.5s", "1 not found, 1 failed", "workspace d is held", "look elsewhere",
		"berth delete a b c d --ignore-not-found", "retry those that are not deleted",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in\n%s", want, text)
		}
	}
	if strings.Contains(text, "berth diagnose") {
		t.Errorf("there is nothing to diagnose:\n%s", text)
	}
}

// What is left of a failed workspace is reported in a line, and only what exists is
// proposed for removal.
func TestLeft(t *testing.T) {
	for left, test := range map[v1.Left]struct{ says, notSays string }{
		v1.LeftKept:    {"delete the workspace and all it has", "deleted what was created"},
		v1.LeftDeleted: {"deleted what was created", "berth delete"},
	} {
		e := v1.Error{Code: "FAILED", Message: "no", Left: left, Workspace: &v1.Workspace{CreatedAt: terminaltest.T0}}
		m := newBatchModel(terminaltest.Single(terminaltest.Alice))
		m.handle(v1.Event{At: terminaltest.T0, Result: &v1.Result{Error: &e}})
		v := view{Page: style.Page{Width: 100, Now: terminaltest.T0, Styles: terminaltest.ColourLook.Styles()}}
		text := ansi.Strip(strings.Join(m.summary(v), "\n"))
		if !strings.Contains(text, test.says) || strings.Contains(text, test.notSays) {
			t.Errorf("%s:\n%s", left, text)
		}
	}
}
