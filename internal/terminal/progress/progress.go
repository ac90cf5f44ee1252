// Package progress shows a stream of events: live, as dated lines, or as lines of
// JSON.
package progress

import (
	"io"
	"sync"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/event"
	"github.com/berthdev/berth/internal/terminal"
	"github.com/berthdev/berth/internal/terminal/live"
	"github.com/berthdev/berth/internal/terminal/printer"
	"github.com/berthdev/berth/internal/terminal/result"
	"github.com/berthdev/berth/internal/terminal/wording"
)

// Renderer shows a stream of events. It has shown everything when it has handled
// the result.
type Renderer interface {
	event.Sink
	// Shown says whether the result, and so an error, was shown.
	Shown() bool
}

// New makes the renderer of a command that works on a batch: lines of JSON if the
// result is to be that, the live view on a terminal, dated lines elsewhere.
func New(s terminal.Streams, f printer.Format, b wording.Batch) Renderer {
	switch {
	case f.IsJSONL():
		return &lines{out: s.Out, of: func(e v1.Event) string { return printer.JSONLine(document(e, b)) }}
	case s.Err.Live:
		view := live.New(s, b)
		s.AtExit(view.Stop)
		return view
	}
	return &lines{out: s.Err, of: newPlain(s.Err, b).text}
}

// document is an event, or what the last one ends with: as `--output json` would
// print it, in one line.
func document(e v1.Event, b wording.Batch) any {
	if e.Result != nil {
		return result.Of(*e.Result, b)
	}
	return e
}

// lines writes the lines that each event is worth.
type lines struct {
	out io.Writer
	of  func(v1.Event) string

	mu     sync.Mutex
	closed bool
	shown  bool
}

// Handle writes the lines of one event.
func (l *lines) Handle(e v1.Event) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return
	}
	l.closed = e.Result != nil
	_, err := io.WriteString(l.out, l.of(e))
	l.shown = l.closed && err == nil
}

// Shown says whether the result was written.
func (l *lines) Shown() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.shown
}
