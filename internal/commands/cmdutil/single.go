package cmdutil

import (
	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/event"
	"github.com/berthdev/berth/internal/terminal"
	"github.com/berthdev/berth/internal/terminal/printer"
	"github.com/berthdev/berth/internal/terminal/progress"
	"github.com/berthdev/berth/internal/terminal/result"
	"github.com/berthdev/berth/internal/terminal/wording"
)

// single is one workspace that a command works on.
type single struct {
	IO        terminal.Streams
	Output    printer.Format
	Namespace string // of the command, if none is named
	Title     wording.Title
}

// show works on the workspace while that is shown, and prints its result. Sinks are for the
// events, besides the view.
func (s single) show(sinks []event.Sink, work func(*event.Stream) v1.Result) (v1.Result, error) {
	batch := wording.Batch{Single: true, Namespace: s.Namespace, Flags: s.Title.Flags, Members: []wording.Title{s.Title}}
	view := progress.New(s.IO, s.Output, batch)
	all := NewBatch(batch, view)
	stream := all.Stream(0, sinks...)
	all.Finish(0, stream, work(stream))
	r := all.Results[0]
	return r, Report(s.IO, s.Output, result.Of(r, batch), view)
}
