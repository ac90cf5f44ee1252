//go:build unix

package progress

import (
	"io"
	"testing"
	"testing/synctest"
	"time"

	"github.com/charmbracelet/x/ansi"
	"github.com/creack/pty"
	"github.com/google/go-cmp/cmp"
	"golang.org/x/term"

	"github.com/berthdev/berth/internal/terminal"
	"github.com/berthdev/berth/internal/terminal/live"
	"github.com/berthdev/berth/internal/terminal/printer"
	"github.com/berthdev/berth/internal/terminal/terminaltest"
)

// In a real pseudo-terminal, with its line discipline and its size.
func TestLiveInAPseudoTerminal(t *testing.T) {
	for name, stop := range map[string]time.Duration{"to the end": time.Hour, "stopped": 16 * sc} {
		t.Run(name, func(t *testing.T) {
			master, tty, err := pty.Open()
			if err != nil {
				t.Skipf("no pseudo-terminal here: %v", err)
			}
			defer master.Close()
			if err := pty.Setsize(tty, &pty.Winsize{Rows: 24, Cols: 100}); err != nil {
				t.Fatal(err)
			}
			screenful := terminaltest.NewVT(100, 24)
			read := make(chan struct{})
			go func() {
				defer close(read)
				_, _ = io.Copy(screenful, master) // until the other side is closed
			}()
			s := terminaltest.Succeeding()
			synctest.Test(t, func(*testing.T) {
				start := time.Now()
				streams := terminal.Streams{Now: func() time.Time { return terminaltest.T0.Add(time.Since(start)) }, Err: terminal.Output{
					Writer: tty, Capabilities: terminaltest.ColourLook,
					Size: func() (int, int) { w, h, _ := term.GetSize(int(tty.Fd())); return w, h },
				}}
				r := New(streams, printer.Format{}, terminaltest.Single(terminaltest.Alice))
				terminaltest.Play(r, s.Events, stop)
				stopLive(r)
			})
			tty.Close()
			<-read
			if screenful.Hidden || screenful.Wrapped > 0 || len(screenful.Unknown) > 0 {
				t.Errorf("cursor hidden %v, %d lines wrapped, unknown sequences %q", screenful.Hidden, screenful.Wrapped, screenful.Unknown)
			}
			if stop < time.Hour {
				terminaltest.Golden(t, "stopped/pty.txt", screenful.Text())
				return
			}
			if diff := cmp.Diff(ansi.Strip(story(s, time.Hour, 100, terminaltest.ColourLook)), screenful.Text()); diff != "" {
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
