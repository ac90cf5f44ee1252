package serve

import (
	"io"
	"log/slog"
)

// NewLog is the structured log of a server: lines for a person on a terminal, JSON
// for everything else.
func NewLog(w io.Writer, terminal bool, level slog.Level) *slog.Logger {
	options := &slog.HandlerOptions{Level: level}
	if terminal {
		return slog.New(slog.NewTextHandler(w, options))
	}
	return slog.New(slog.NewJSONHandler(w, options))
}
