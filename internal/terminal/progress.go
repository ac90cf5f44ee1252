package terminal

import (
	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/event"
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

// Progress makes the renderer of a command that works on one workspace.
func Progress(s Streams, mode Mode, title Title) Renderer {
	return progress(s, mode, &model{title: title}, func() Renderer { return newPlain(s.Err, title) })
}

// ProgressOfMany makes the renderer of a command that works on several.
func ProgressOfMany(s Streams, mode Mode, b Batch) Renderer {
	return progress(s, mode, newCrowd(b), func() Renderer { return newPlainMany(s.Err, b) })
}

func progress(s Streams, mode Mode, sc scene, lines func() Renderer) Renderer {
	if mode == ModeAuto || mode == "" || mode == ModeLive && !s.Err.Live {
		mode = ModePlain
		if s.Err.Live {
			mode = ModeLive
		}
	}
	switch mode {
	case ModeLive:
		return newLive(s.Err, sc, s.Now)
	case ModeJSONL:
		return &jsonl{out: s.Out}
	case ModeQuiet:
		return quiet{}
	default:
		return lines()
	}
}

// quiet shows nothing.
type quiet struct{}

func (quiet) Handle(v1.Event) {}
func (quiet) Stop()           {}
func (quiet) Shown() bool     { return false }
