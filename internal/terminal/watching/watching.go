// Package watching shows workspaces that change: as a picture that is redrawn, as
// rows, or as documents.
package watching

import (
	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/terminal"
	"github.com/berthdev/berth/internal/terminal/printer"
	"github.com/berthdev/berth/internal/terminal/result"
)

// Display shows workspaces that change: the first call of Changed has all that
// there are, each later one those that did. One that is gone says so.
type Display interface {
	Changed([]v1.Workspace)
	Interrupted(error)
	// Close ends it and gives the cursor back. It may be called at any time and
	// more than once.
	Close()
}

// View says what of workspaces is watched and how it is shown.
type View struct {
	result.Table
	// One is true if a single workspace is watched: on a terminal, in full.
	One bool
	// Sort brings what is redrawn into order.
	Sort func([]v1.Workspace)
	// Keep tells those that still belong to the list from those that have left it.
	Keep func(v1.Workspace) bool
}

// New makes what shows them: a picture redrawn in place on a live
// terminal, a row for each change elsewhere, a document for each change where
// documents are asked for.
func New(s terminal.Streams, f printer.Format, v View) Display {
	switch {
	case !f.IsText():
		return &documents{s: s, format: f}
	case s.Out.Live:
		return newPicture(s, f, v)
	default:
		return &rows{s: s, format: f, view: v, printed: map[string]string{}}
	}
}

// interruption is the line about a connection that is lost.
func interruption(err error) string { return "connection lost, retrying: " + err.Error() }
