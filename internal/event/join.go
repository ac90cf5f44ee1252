package event

import v1 "github.com/berthdev/berth/api/v1"

// Join is a sink for the stream of one of several workspaces: it passes the
// events on to a stream about all of them, which renumbers them. A result
// becomes an outcome, since only the joint stream's own result ends it.
func (s *Stream) Join() Sink { return joined{s} }

type joined struct{ to *Stream }

// Handle passes one event on.
func (j joined) Handle(e v1.Event) {
	e.Outcome, e.Result = e.Result, nil
	j.to.emit(e, false)
}
