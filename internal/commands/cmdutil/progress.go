package cmdutil

import (
	"time"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/event"
	"github.com/berthdev/berth/internal/terminal"
	"github.com/berthdev/berth/internal/terminal/printer"
	"github.com/berthdev/berth/internal/terminal/progress"
	"github.com/berthdev/berth/internal/terminal/result"
	"github.com/berthdev/berth/internal/terminal/wording"
)

// Members gives each workspace of a command a stream of events of its own.
type Members struct {
	sink  event.Sink
	joint *event.Stream // nil if there is only one
}

// NewMembers passes the events on to the view; those of several workspaces on one
// stream, which ends with the result of all.
func NewMembers(b wording.Batch, view event.Sink) Members {
	if b.Single {
		return Members{sink: view}
	}
	joint := event.NewStream("", time.Now, view)
	return Members{sink: joint.Join(), joint: joint}
}

// Stream is that of one workspace; its result must end it.
func (m Members) Stream(id string, others ...event.Sink) *event.Stream {
	return event.NewStream(id, time.Now, append(others, m.sink)...)
}

// Finish ends the stream of several.
func (m Members) Finish(r v1.Result) {
	if m.joint != nil {
		m.joint.Finish(r)
	}
}

// Report prints what a command ended with that showed progress, and fails with the
// exit status of that.
func Report(s terminal.Streams, format printer.Format, e result.Ending, view progress.Renderer) error {
	if err := printer.Report(s, format, e, view.Shown()); err != nil {
		return err
	}
	if status := e.Exit(); status != 0 {
		return ExitError(status)
	}
	return nil
}
