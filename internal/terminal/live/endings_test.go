package live

import (
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/terminal/terminaltest"
	"github.com/berthdev/berth/internal/terminal/wording"
)

func TestRemovalsAtATerminal(t *testing.T) {
	b, events := terminaltest.Removals()
	c := newCrowd(b)
	for _, e := range events {
		c.handle(e)
	}
	text := ansi.Strip(strings.Join(c.ending(view{Page: wording.Page{Width: 100, Now: terminaltest.T0, Styles: terminaltest.ColourLook.Styles()}}), "\n"))
	for _, want := range []string{
		"4 workspaces in workspaces", "✔ a  Deleted", "6 objects", "1 object, the pod may still be ending", "it was not there",
		"✘ d  Failed", "3 of 4 deleted after 1.5s", "1 failed", "there is no workspace d", "look elsewhere", "berth delete a b c d --ignore-not-found", "try again what is not deleted",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in\n%s", want, text)
		}
	}
	if strings.Contains(text, "berth diagnose") {
		t.Errorf("there is nothing to diagnose:\n%s", text)
	}
}

// What is left of a workspace that failed is said in a line, and only what there
// is is proposed to be removed.
func TestLeft(t *testing.T) {
	for left, test := range map[v1.Left]struct{ says, notSays string }{
		v1.LeftKept:    {"what was created is kept; this removes it", "removed what was created"},
		v1.LeftDeleted: {"removed what was created", "berth delete"},
	} {
		e := v1.Error{Code: "FAILED", Message: "no", Left: left, Workspace: &v1.Workspace{CreatedAt: terminaltest.T0}}
		m := &model{title: terminaltest.Alice, result: &v1.Result{Error: &e}}
		v := view{Page: wording.Page{Width: 100, Now: terminaltest.T0, Styles: terminaltest.ColourLook.Styles()}}
		text := ansi.Strip(strings.Join(summary(m, v), "\n"))
		if !strings.Contains(text, test.says) || strings.Contains(text, test.notSays) {
			t.Errorf("%s:\n%s", left, text)
		}
	}
}
