// Package terminaltest is for tests of what a terminal shows: stories of workspaces and a
// virtual terminal.
package terminaltest

import (
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/charmbracelet/x/ansi"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/event"
	"github.com/berthdev/berth/internal/terminal"
	"github.com/berthdev/berth/internal/terminal/style"
)

// VT is a terminal that understands just what the painter sends: printing with
// wrapping and scrolling, CR, LF, cursor up, erase right and below, show and
// hide the cursor. What scrolls off the top stays in lines, where no cursor can
// reach it, as in a real one.
type VT struct {
	mu            sync.Mutex
	width, height int
	lines         [][]string // of cells; a wide sign is followed by an empty one
	row, col      int
	Hidden        bool
	Wrapped       int
	continued     map[int]bool // rows that go on with the row above
	Unknown       []string
	rest          string
}

// NewVT makes one of a size.
func NewVT(width, height int) *VT {
	return &VT{width: width, height: height, lines: [][]string{nil}, continued: map[int]bool{}}
}

var sequence = regexp.MustCompile(`^\x1b\[([?0-9;]*)([A-Za-z])`)

// Write interprets what a program sends; a sequence may come in two pieces.
func (t *VT) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	s := t.rest + string(p)
	for s != "" {
		if s[0] == '\x1b' {
			m := sequence.FindStringSubmatch(s)
			if m == nil {
				break
			}
			t.control(m[1], m[2])
			s = s[len(m[0]):]
			continue
		}
		r, _ := ansi.FirstGraphemeCluster(s, ansi.GraphemeWidth)
		if strings.ContainsRune(r, '\uFFFD') && len(s) < 4 {
			break
		}
		t.print(r)
		s = s[len(r):]
	}
	t.rest = s
	return len(p), nil
}

func (t *VT) print(s string) {
	switch {
	case strings.Trim(s, "\r\n") == "":
		if strings.Contains(s, "\r") {
			t.col = 0
		}
		if strings.Contains(s, "\n") {
			t.down()
			delete(t.continued, t.row)
		}
		return
	case t.col >= t.width:
		t.col = 0
		t.Wrapped++
		t.down()
		t.continued[t.row] = true
	}
	w := ansi.StringWidth(s)
	line := t.lines[t.row]
	for len(line) < t.col+w {
		line = append(line, " ")
	}
	line[t.col] = s
	for i := 1; i < w; i++ {
		line[t.col+i] = ""
	}
	t.lines[t.row], t.col = line, t.col+w
}

func (t *VT) down() {
	t.row++
	if t.row == len(t.lines) {
		t.lines = append(t.lines, nil)
	}
}

func (t *VT) control(args, final string) {
	switch final + args {
	case "h?25", "l?25":
		t.Hidden = final == "l"
		return
	case "h?2026", "l?2026":
		return
	case "K":
		if t.col < len(t.lines[t.row]) {
			t.lines[t.row] = t.lines[t.row][:t.col]
		}
		return
	case "J":
		t.control("", "K")
		t.lines = t.lines[:t.row+1]
		return
	}
	switch final {
	case "m":
	case "A":
		n, _ := strconv.Atoi(args)
		t.row = max(t.row-max(n, 1), len(t.lines)-t.height, 0)
	default:
		t.Unknown = append(t.Unknown, args+final)
	}
}

// Resize breaks what is longer than the new width into rows, as terminals do.
func (t *VT) Resize(width int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	var lines [][]string
	row := t.row
	for i, line := range t.lines {
		if i == t.row {
			row = len(lines)
		}
		for len(line) > width {
			lines, line = append(lines, line[:width:width]), line[width:]
		}
		lines = append(lines, line)
	}
	t.lines, t.row, t.width = lines, row, width
}

// Size is how wide and high it is.
func (t *VT) Size() (int, int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.width, t.height
}

var trailing = regexp.MustCompile(" +\n")

// Text is everything that was ever on the screen and was not overwritten.
func (t *VT) Text() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	var b strings.Builder
	for i, line := range t.lines {
		if i == len(t.lines)-1 && len(line) == 0 {
			break // where the cursor rests
		}
		if i > 0 && !t.continued[i] {
			b.WriteString("\n")
		}
		b.WriteString(strings.Join(line, ""))
	}
	if b.Len() > 0 {
		b.WriteString("\n")
	}
	return trailing.ReplaceAllString(b.String(), "\n")
}

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
