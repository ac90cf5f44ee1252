// Package terminaltest is for tests of what a terminal shows: stories of workspaces and a
// virtual terminal.
package terminaltest

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/event"
	"github.com/berthdev/berth/internal/terminal"
	"github.com/berthdev/berth/internal/terminal/style"
)

// What the terminals of the tests can do.
var (
	PlainLook  = terminal.Capabilities{TTY: true, Live: true, Unicode: true}
	ColourLook = terminal.Capabilities{TTY: true, Live: true, Unicode: true, Profile: style.Colour16}
	AsciiLook  = terminal.Capabilities{TTY: true, Live: true}
)

// Visible makes escape sequences readable in a golden file.
func Visible(s string) string { return strings.ReplaceAll(s, "\x1b", "ESC") }

// Play hands events over when they are due.
func Play(r event.Sink, events []v1.Event, until time.Duration) {
	at := time.Duration(0)
	for _, e := range events {
		due := e.At.Sub(T0)
		if due > until {
			break
		}
		time.Sleep(due - at)
		at = due
		r.Handle(e)
	}
	if at < until && until < time.Hour {
		time.Sleep(until - at)
	}
	synctest.Wait()
}

// Harmless fails if a text has anything in it that a terminal would obey.
func Harmless(t *testing.T, what, text string) {
	t.Helper()
	if text == "" {
		t.Errorf("%s: nothing was printed", what)
	}
	for _, bad := range []string{"\x1b", "\u009b", "\r", "\a", "\u202e", "title"} {
		if strings.Contains(text, bad) {
			t.Errorf("%s: %q in %q", what, bad, text)
		}
	}
}
