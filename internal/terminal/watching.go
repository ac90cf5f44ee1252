package terminal

import (
	v1 "github.com/berthdev/berth/api/v1"
)

// Watching shows workspaces that change: the first call of Changed has all that
// there are, each later one those that did. One that is gone says so.
type Watching interface {
	Changed([]v1.Workspace)
	Interrupted(error)
	// Close ends it and gives the cursor back. It may be called at any time and
	// more than once.
	Close()
}

// WatchView says what of workspaces is watched and how it is shown.
type WatchView struct {
	List
	// One is true if a single workspace is watched: on a terminal, in full.
	One bool
	// Sort brings what is redrawn into order.
	Sort func([]v1.Workspace)
	// Keep tells those that still belong to the list from those that have left it.
	Keep func(v1.Workspace) bool
}

// Watch makes what shows them: a picture redrawn in place for somebody who
// watches, a row for each change elsewhere, a document for each change where
// documents are asked for.
func Watch(s Streams, f Format, v WatchView) Watching {
	switch {
	case !f.IsText():
		return &watchDocuments{s: s, format: f}
	case s.Out.Live:
		return newWatchPicture(s, f, v)
	default:
		return &watchRows{s: s, wide: f.IsWide(), view: v, st: s.Out.Styles(), told: map[string]string{}}
	}
}

// unheard is the line about a cluster that is not heard.
func unheard(err error) string { return "interrupted: " + err.Error() + "; trying again" }
