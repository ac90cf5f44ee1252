//go:build unix

package progress

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/charmbracelet/x/ansi"
	"github.com/google/go-cmp/cmp"

	"github.com/berthdev/berth/internal/goldentest"
	"github.com/berthdev/berth/internal/terminal/live"
	"github.com/berthdev/berth/internal/terminal/printer"
	"github.com/berthdev/berth/internal/terminal/terminaltest"
)

// In a real pseudo-terminal, with its line discipline and its size.
func TestLiveInAPseudoTerminal(t *testing.T) {
	for name, stop := range map[string]time.Duration{"to the end": time.Hour, "stopped": 16 * sc} {
		t.Run(name, func(t *testing.T) {
			p := newPseudo(t, 100, 24)
			s := terminaltest.Succeeding()
			synctest.Test(t, func(*testing.T) {
				r := New(p.streams(xterm()), printer.Format{}, terminaltest.Single(terminaltest.Alice))
				terminaltest.Play(r, s.Events, stop)
				stopLive(r)
			})
			p.close()
			if p.Hidden || p.Wrapped > 0 || len(p.Unknown) > 0 {
				t.Errorf("cursor hidden %v, %d lines wrapped, unknown sequences %q", p.Hidden, p.Wrapped, p.Unknown)
			}
			if stop < time.Hour {
				goldentest.Check(t, "stopped/pty.txt", p.Text())
				return
			}
			if diff := cmp.Diff(ansi.Strip(story(s, time.Hour, 100, terminaltest.ColourLook)), p.Text()); diff != "" {
				t.Errorf("final screen (-want +got):\n%s", diff)
			}
		})
	}
}

// stopLive stops a live view before its result, as an exit does.
func stopLive(r Renderer) {
	if view, ok := r.(*live.Live); ok {
		view.Stop()
	}
}
