// Package terminal is the three standard streams, what is known about each, and
// the people at them: who can be asked, and whose keys a remote program gets. What
// they are shown is made in the packages below this one.
package terminal

import (
	"bytes"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/berthdev/berth/internal/terminal/style"
)

// Streams are the three standard streams and what is known about each.
type Streams struct {
	In  Input
	Out Output
	Err Output
	// Now is the time that ages are counted from.
	Now func() time.Time
	// Waits are what the command waits for.
	Waits *Waits
	// Flags are repeated in the commands that a printed document proposes: see
	// Title.
	Flags []string

	atExit *exitHooks
}

// exitHooks give the terminal back.
type exitHooks struct {
	mu    sync.Mutex
	hooks []func()
}

// AtExit registers what gives the terminal back if the process has to exit at
// once. It may be called more than once.
func (s Streams) AtExit(restore func()) {
	if s.atExit == nil {
		return // streams of a test
	}
	s.atExit.mu.Lock()
	defer s.atExit.mu.Unlock()
	s.atExit.hooks = append(s.atExit.hooks, restore)
}

// Restore gives the terminal back.
func (s Streams) Restore() {
	s.atExit.mu.Lock()
	defer s.atExit.mu.Unlock()
	for _, restore := range s.atExit.hooks {
		restore()
	}
}

// Input is a stream to read from. For stdin the Reader is the *os.File.
type Input struct {
	io.Reader
	TTY bool
}

// Output is a stream to write to.
type Output struct {
	io.Writer
	Capabilities
	// Size measures the terminal, again at each call: it can be resized. Height
	// is 0 where there is no terminal.
	Size func() (width, height int)
}

// Wrap breaks a text between words into lines that fit a terminal; elsewhere it stays one line.
func (o Output) Wrap(text string) string {
	if !o.TTY {
		return text
	}
	return strings.Join(style.Wrap(text, o.Width()-1), "\n")
}

// Width is how many columns there are at this moment.
func (o Output) Width() int {
	width, _ := o.Size()
	return width
}

// Room is how wide a table may be that is cut to fit; 0 without a terminal, so
// that scripts and grep see all of it.
func (o Output) Room() int {
	if !o.TTY {
		return 0
	}
	return o.Width() - 1
}

// Buffers are what a test wrote and can read.
type Buffers struct {
	Out, Err *bytes.Buffer
}

// Test gives Streams for tests: no terminal, no colour, 80 columns, a clock
// that does not move. The caller may change any of it.
func Test(stdin string, now time.Time) (Streams, Buffers) {
	b := Buffers{Out: &bytes.Buffer{}, Err: &bytes.Buffer{}}
	size := func() (int, int) { return defaultWidth, 0 }
	caps := Capabilities{Unicode: true}
	return Streams{
		In:  Input{Reader: strings.NewReader(stdin)},
		Out: Output{Writer: b.Out, Capabilities: caps, Size: size},
		Err: Output{Writer: b.Err, Capabilities: caps, Size: size},
		Now: func() time.Time { return now },

		Waits: newWaits(),

		atExit: &exitHooks{},
	}, b
}
