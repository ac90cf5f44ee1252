package progress

import (
	"bytes"
	"strings"
	"testing"
	"time"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/terminal"
	"github.com/berthdev/berth/internal/terminal/style"
	"github.com/berthdev/berth/internal/terminal/terminaltest"
)

const (
	ms = time.Millisecond
	sc = time.Second
)

// told feeds a renderer and gives what it wrote.
func told(t *testing.T, s *terminaltest.Script, mode Mode) (stdout, stderr string) {
	t.Helper()
	streams, b := terminal.Test("", terminaltest.T0)
	r := New(streams, mode, terminaltest.Alice)
	for _, e := range s.Through() {
		r.Handle(e)
	}
	r.Stop()
	return b.Out.String(), b.Err.String()
}

func TestPlainTranscripts(t *testing.T) {
	for name, s := range map[string]*terminaltest.Script{
		"success": terminaltest.Succeeding(), "crash-loop": terminaltest.CrashLoop(), "timed-out": terminaltest.TimedOut(),
		"interrupted": terminaltest.Interrupted(), "deleted": terminaltest.Deleted(false), "refused": terminaltest.Refused(), "image-not-found": terminaltest.ImageNotFound(),
	} {
		t.Run(name, func(t *testing.T) {
			stdout, stderr := told(t, s, ModePlain)
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
		told  bool
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
	var b bytes.Buffer
	p := newPlain(terminal.Output{Writer: &b}, terminaltest.Alice)
	for _, s := range steps {
		b.Reset()
		w := terminaltest.Unschedulable(s.count, s.at)
		p.Handle(v1.Event{At: terminaltest.T0.Add(s.at), Warning: &w})
		if got := b.Len() > 0; got != s.told {
			t.Errorf("count %d after %s: told %v, want %v", s.count, s.at, got, s.told)
		}
	}
}

func TestPlainHasNoColourEvenWhenForced(t *testing.T) {
	streams, b := terminal.Test("", terminaltest.T0)
	streams.Err.Profile = style.Colour256
	r := New(streams, ModeAuto, terminaltest.Alice)
	for _, e := range terminaltest.Refused().Through() {
		r.Handle(e)
	}
	if out := b.Err.String(); strings.Contains(out, "\x1b") || out == "" {
		t.Errorf("escape sequences in plain lines: %q", out)
	}
}

func TestStoppedRenderersAreSilent(t *testing.T) {
	for _, mode := range []Mode{ModePlain, ModeJSONL} {
		streams, b := terminal.Test("", terminaltest.T0)
		r := New(streams, mode, terminaltest.Alice)
		r.Stop()
		r.Stop()
		for _, e := range terminaltest.ImageNotFound().Through() {
			r.Handle(e)
		}
		if b.Out.Len()+b.Err.Len() > 0 || r.Shown() {
			t.Errorf("%s wrote after Stop: %q %q", mode, b.Out, b.Err)
		}
	}
}

// Who asks for the live view where there is none gets lines, not sequences.
func TestLiveNeedsATerminal(t *testing.T) {
	stdout, stderr := told(t, terminaltest.Succeeding(), ModeLive)
	_, want := told(t, terminaltest.Succeeding(), ModePlain)
	if stdout != "" || stderr != want {
		t.Errorf("got %q and %q, want plain lines", stdout, stderr)
	}
}
