//go:build unix

package progress

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"regexp"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
	uni "unicode"

	"github.com/creack/pty"
	"github.com/google/go-cmp/cmp"

	"github.com/berthdev/berth/internal/terminal"
	"github.com/berthdev/berth/internal/terminal/printer"
	"github.com/berthdev/berth/internal/terminal/terminaltest"
)

// pseudo is a real pseudo-terminal and what its screen shows.
type pseudo struct {
	*terminaltest.VT
	t       *testing.T
	tty     *os.File
	written atomic.Int64
	read    atomic.Int64
	raw     strings.Builder
	ended   chan struct{}
}

func newPseudo(t *testing.T, width, height int) *pseudo {
	t.Helper()
	master, tty, err := pty.Open()
	if err != nil {
		t.Fatalf("no pseudo-terminal here: %v", err)
	}
	p := &pseudo{VT: terminaltest.NewVT(width, height), t: t, tty: tty, ended: make(chan struct{})}
	t.Cleanup(func() { _ = master.Close() })
	p.setSize(width, height)
	go func() {
		defer close(p.ended)
		_, _ = io.Copy(io.MultiWriter(p.VT, &p.raw, counter{&p.read}), master)
	}()
	return p
}

type counter struct{ n *atomic.Int64 }

func (c counter) Write(b []byte) (int, error) {
	c.n.Add(int64(len(b)))
	return len(b), nil
}

// Write writes as the view does, to the terminal.
func (p *pseudo) Write(b []byte) (int, error) {
	n, err := p.tty.Write(b)
	p.written.Add(int64(n + bytes.Count(b[:n], []byte("\n")))) // the line discipline writes \r\n
	return n, err
}

// waitForScreen waits until the screen shows what has been written.
func (p *pseudo) waitForScreen() {
	for p.read.Load() < p.written.Load() {
		runtime.Gosched()
	}
}

func (p *pseudo) setSize(width, height int) {
	p.t.Helper()
	size := &pty.Winsize{Rows: uint16(height), Cols: uint16(width)}
	if err := pty.Setsize(p.tty, size); err != nil {
		p.t.Fatal(err)
	}
}

// close waits first: what a terminal has not been read of may be lost with it.
func (p *pseudo) close() {
	p.waitForScreen()
	_ = p.tty.Close()
	<-p.ended
}

// streams are those of a program in the terminal, with what its environment says.
func (p *pseudo) streams(set map[string]string) terminal.Streams {
	start := time.Now()
	out := terminal.OutputOf(p.tty, func(name string) string { return set[name] })
	out.Writer = p
	return terminal.Streams{Err: out, Out: out, Now: func() time.Time { return terminaltest.T0.Add(time.Since(start)) }}
}

// xterm is the environment of an ordinary terminal.
func xterm(more ...string) map[string]string {
	env := map[string]string{"TERM": "xterm-256color", "LANG": "C.UTF-8"}
	for _, m := range more {
		name, value, _ := strings.Cut(m, "=")
		env[name] = value
	}
	return env
}

// In terminals of 40 to 200 columns, and while they are resized, to the end and
// cut off: one and many leave their whole story, and the cursor.
func TestPseudoTerminals(t *testing.T) {
	for _, sizes := range [][]int{{40}, {80}, {120}, {200}, {120, 60}, {60, 160}, {200, 40, 90}} {
		for _, until := range []time.Duration{time.Hour, 16 * sc} {
			t.Run(fmt.Sprintf("%v until %s", sizes, until), func(t *testing.T) {
				p := newPseudo(t, sizes[0], 24)
				b := terminaltest.Team()
				synctest.Test(t, func(*testing.T) {
					r := New(p.streams(xterm()), printer.Format{}, b.Batch)
					at, next := time.Duration(0), 0
					for _, width := range sizes {
						p.waitForScreen()
						p.setSize(width, 24)
						p.Resize(width)
						at += 5 * sc
						for ; next < len(b.Events) && b.Events[next].At.Before(terminaltest.T0.Add(at)); next++ {
							r.Handle(b.Events[next])
						}
						time.Sleep(5 * sc)
						synctest.Wait()
					}
					for ; next < len(b.Events) && b.Events[next].At.Before(terminaltest.T0.Add(until)); next++ {
						r.Handle(b.Events[next])
					}
					stopLive(r)
				})
				p.close()
				if p.Hidden || len(p.Unknown) > 0 || p.Wrapped > 0 && sizes[len(sizes)-1] >= 80 {
					t.Errorf("cursor hidden %v, %d wrapped, unknown %q", p.Hidden, p.Wrapped, p.Unknown)
				}
				for _, user := range []string{"alice", "bob", "carol", "dave", "erin"} {
					row := regexp.MustCompile(`(?m)^  [^\w] ` + user + `\S* +\S`) // not its name over its cause
					if n := len(row.FindAllString(p.Text(), -1)); n != 1 {
						t.Errorf("%s has %d rows:\n%s", user, n, p.Text())
					}
				}
				if end := strings.Contains(p.Text(), "3 of 5 running"); end != (until == time.Hour) {
					t.Errorf("the summary is there: %v\n%s", end, p.Text())
				}
			})
		}
	}
}

var colours = regexp.MustCompile(`\x1b\[[0-9;]+m`)

// What the environment and the output say decides what is drawn: a live view,
// without colours, in ASCII; or dated lines without any sequence.
func TestWhatIsDrawnWhere(t *testing.T) {
	_, lines := renderBatch(t, terminaltest.Team(), "text")
	for name, test := range map[string]struct {
		env                   map[string]string
		live, colour, unicode bool
	}{
		"a terminal":      {xterm(), true, true, true},
		"sixteen colours": {xterm("TERM=xterm"), true, true, true},
		"no colour":       {xterm("NO_COLOR=1"), true, false, true},
		"no Unicode":      {xterm("LANG=C"), true, true, false},
		"dumb":            {xterm("TERM=dumb"), false, false, true},
		"no TERM":         {xterm("TERM="), false, false, true},
		"CI":              {xterm("CI=true"), false, false, true},
		"CI with colour":  {xterm("CI=true", "CLICOLOR_FORCE=1"), false, false, true},
	} {
		t.Run(name, func(t *testing.T) {
			p := newPseudo(t, 100, 40)
			b := terminaltest.Team()
			synctest.Test(t, func(*testing.T) {
				r := New(p.streams(test.env), printer.Format{}, b.Batch)
				terminaltest.Play(r, b.Events, time.Hour)
				stopLive(r)
			})
			p.close()
			raw := strings.ReplaceAll(p.raw.String(), "\r\n", "\n")
			if !test.live {
				if diff := cmp.Diff(lines, raw); diff != "" {
					t.Errorf("want the dated lines (-want +got):\n%s", diff)
				}
				return
			}
			if !strings.Contains(raw, "\x1b[?2026h") || colours.MatchString(raw) != test.colour {
				t.Errorf("colour %v expected; it begins with %q", test.colour, raw[:min(len(raw), 200)])
			}
			if !test.unicode != isASCII(raw) {
				t.Errorf("Unicode %v expected", test.unicode)
			}
		})
	}
}

func isASCII(s string) bool {
	return strings.IndexFunc(s, func(r rune) bool { return r > uni.MaxASCII }) < 0
}

// Into a pipe go dated lines, whatever the terminal could do.
func TestIntoAPipe(t *testing.T) {
	_, want := renderBatch(t, terminaltest.Team(), "text")
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	got := make(chan string, 1)
	go func() {
		b, _ := io.ReadAll(r)
		got <- string(b)
	}()
	out := terminal.OutputOf(w, func(name string) string { return xterm()[name] })
	progress := New(terminal.Streams{Err: out, Now: time.Now}, printer.Format{}, terminaltest.Team().Batch)
	for _, e := range terminaltest.Team().Events {
		progress.Handle(e)
	}
	_ = w.Close()
	if diff := cmp.Diff(want, <-got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
