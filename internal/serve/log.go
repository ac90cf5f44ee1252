package serve

import (
	"context"
	"io"
	"log/slog"

	"github.com/go-logr/logr"
	"k8s.io/klog/v2"
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

// WithLog makes client-go log here what it does with the context. The log of the whole
// process stays silent: it can only be set before anything runs.
func WithLog(ctx context.Context, log *slog.Logger) context.Context {
	return klog.NewContext(ctx, logr.FromSlogHandler(log.Handler()))
}
