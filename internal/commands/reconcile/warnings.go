package reconcile

import (
	"context"
	"log/slog"
	"sync/atomic"

	"github.com/berthdev/berth/internal/terminal"
	"github.com/berthdev/berth/internal/terminal/printer"
)

// warnings prints what a controller warns of. What it did is printed as the result.
type warnings struct {
	io  terminal.Streams
	met *atomic.Bool
}

// Enabled leaves out what is no warning.
func (w warnings) Enabled(_ context.Context, level slog.Level) bool { return level >= slog.LevelWarn }

// Handle prints a warning with its attributes.
func (w warnings) Handle(_ context.Context, r slog.Record) error {
	if r.Message == "audit" {
		return nil
	}
	text := r.Message
	r.Attrs(func(a slog.Attr) bool {
		text += ": " + a.Value.String()
		return true
	})
	w.met.Store(true)
	printer.PrintWarning(w.io, text)
	return nil
}

// WithAttrs has no use for more attributes.
func (w warnings) WithAttrs([]slog.Attr) slog.Handler { return w }

// WithGroup has no use for groups.
func (w warnings) WithGroup(string) slog.Handler { return w }
