// Package progress shows a stream of events: live, as dated lines, or as lines of
// JSON.
package progress

import (
	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/event"
	"github.com/berthdev/berth/internal/terminal"
	"github.com/berthdev/berth/internal/terminal/live"
	"github.com/berthdev/berth/internal/terminal/printer"
	"github.com/berthdev/berth/internal/terminal/wording"
)

// Mode is how progress is shown.
type Mode string

// The modes. Auto is live for somebody who watches and plain otherwise.
const (
	ModeAuto  Mode = "auto"
	ModeLive  Mode = "live"
	ModePlain Mode = "plain"
	ModeJSONL Mode = "jsonl"
	ModeQuiet Mode = "quiet"
)

// ModeOf is how progress is to be shown where results have a format, if nothing
// else was asked for.
func ModeOf(f printer.Format) Mode {
	if f.IsJSONL() {
		return ModeJSONL
	}
	return ModeAuto
}

// Renderer shows a stream of events. It has shown everything when it has
// handled the result.
type Renderer interface {
	event.Sink
	// Stop ends it before that, for whoever leaves at once; it may be called at
	// any time and more than once. It gives the cursor back.
	Stop()
	// Shown says whether the result, and so an error, was shown.
	Shown() bool
}

// New makes the renderer of a command that works on one workspace.
func New(s terminal.Streams, mode Mode, title wording.Title) Renderer {
	switch chosen(mode, s.Err) {
	case ModeLive:
		return live.New(s.Err, title, s.Now)
	case ModeJSONL:
		return &jsonl{out: s.Out}
	case ModeQuiet:
		return quiet{}
	default:
		return newPlain(s.Err, title)
	}
}

// OfMany makes the renderer of a command that works on several.
func OfMany(s terminal.Streams, mode Mode, b wording.Batch) Renderer {
	switch chosen(mode, s.Err) {
	case ModeLive:
		return live.OfMany(s.Err, b, s.Now)
	case ModeJSONL:
		return &jsonl{out: s.Out}
	case ModeQuiet:
		return quiet{}
	default:
		return newPlainMany(s.Err, b)
	}
}

// chosen is live only where somebody watches.
func chosen(mode Mode, out terminal.Output) Mode {
	switch {
	case mode != ModeAuto && mode != "" && mode != ModeLive:
		return mode
	case out.Live:
		return ModeLive
	}
	return ModePlain
}

// quiet shows nothing.
type quiet struct{}

func (quiet) Handle(v1.Event) {}
func (quiet) Stop()           {}
func (quiet) Shown() bool     { return false }
