package serve

import (
	"log/slog"

	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/lifecycle"
)

// limits are those of the configuration, which may change. They are used by one goroutine.
type limits struct {
	read func() (lifecycle.Limits, error)
	log  *slog.Logger
	now  lifecycle.Limits
}

// newLimits reads the limits, which have to be readable at first.
func newLimits(read func() (lifecycle.Limits, error), log *slog.Logger) (l *limits, err error) {
	l = &limits{read: read, log: log}
	l.now, err = read()
	return l, err
}

// of are the limits of a workspace.
func (l *limits) of(r lifecycle.Record) lifecycle.Limits { return l.now.For(r) }

// changed reads the configuration again. One that cannot be read changes nothing.
func (l *limits) changed() bool {
	before := l.now
	now, err := l.read()
	if err != nil {
		l.log.Warn("the configuration cannot be read; the limits stay as they are",
			slog.String("error", fault.Line(err.Error())))
		return false
	}
	l.now = now
	return now != before
}
