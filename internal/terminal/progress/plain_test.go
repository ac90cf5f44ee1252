package progress

import (
	"strings"
	"testing"
	"time"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/terminal"
	"github.com/berthdev/berth/internal/terminal/printer"
	"github.com/berthdev/berth/internal/terminal/style"
	"github.com/berthdev/berth/internal/terminal/terminaltest"
)

const (
	ms = time.Millisecond
	sc = time.Second
)

// render feeds a renderer and gives what it wrote.
func render(t *testing.T, s *terminaltest.Script, output string) (stdout, stderr string) {
	t.Helper()
	streams, b := terminal.Test("", terminaltest.T0)
	r := New(streams, format(t, output), terminaltest.Single(terminaltest.Alice))
	for _, e := range s.Events {
		r.Handle(e)
	}
	return b.Out.String(), b.Err.String()
}

func TestPlainTranscripts(t *testing.T) {
	for name, s := range map[string]*terminaltest.Script{
		"success": terminaltest.Succeeding(), "crash-loop": terminaltest.CrashLoop(), "timed-out": terminaltest.TimedOut(),
		"interrupted": terminaltest.Interrupted(), "deleted": terminaltest.Deleted(false), "refused": terminaltest.Refused(), "image-not-found": terminaltest.ImageNotFound(),
		"scripts": terminaltest.Scripts(), "scripts-strict": terminaltest.StrictScripts(),
	} {
		t.Run(name, func(t *testing.T) {
			stdout, stderr := render(t, s, "text")
			if stdout != "" {
				t.Errorf("progress on stdout: %q", stdout)
			}
			terminaltest.Golden(t, "plain/"+name+".txt", stderr)
		})
	}
}

func TestPlainRepeatsAWarningOnlyWhenItHasGrown(t *testing.T) {
	steps := []struct {
		at    time.Duration
		count int
		again bool
	}{
		{0, 1, true},
		{1 * sc, 1, false},
		{2 * sc, 2, true},
		{3 * sc, 3, false},
		{4 * sc, 4, true},
		{5 * sc, 5, false},
		{33 * sc, 5, false},
		{35 * sc, 6, true},
		{90 * sc, 6, false},
	}
	p := newPlain(terminal.Output{}, terminaltest.Single(terminaltest.Alice))
	for _, s := range steps {
		w := terminaltest.Unschedulable(s.count, s.at)
		if got := p.text(v1.Event{At: terminaltest.T0.Add(s.at), Warning: &w}) != ""; got != s.again {
			t.Errorf("count %d after %s: written again %v, want %v", s.count, s.at, got, s.again)
		}
	}
}

func TestPlainHasNoColourEvenWhenForced(t *testing.T) {
	streams, b := terminal.Test("", terminaltest.T0)
	streams.Err.Profile = style.Colour256
	r := New(streams, printer.Format{}, terminaltest.Single(terminaltest.Alice))
	for _, e := range terminaltest.Refused().Events {
		r.Handle(e)
	}
	if out := b.Err.String(); strings.Contains(out, "\x1b") || out == "" {
		t.Errorf("escape sequences in plain lines: %q", out)
	}
}
