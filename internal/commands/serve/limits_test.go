package serve

import (
	"errors"
	"log/slog"
	"testing"
	"time"

	"github.com/berthdev/berth/internal/lifecycle"
)

// Limits that change are noticed once. A configuration that cannot be read changes nothing, unless it is the first.
func TestLimitsChange(t *testing.T) {
	var now lifecycle.Limits
	var broken error
	read := func() (lifecycle.Limits, error) { return now, broken }
	l, err := newLimits(read, slog.New(slog.DiscardHandler))
	if err != nil || l.changed() {
		t.Fatal("nothing has changed", err)
	}
	now.Active = time.Hour
	if !l.changed() || l.changed() || l.of(lifecycle.Record{}).Active != time.Hour {
		t.Error("a change is noticed once, and holds")
	}
	now, broken = lifecycle.Limits{}, errors.New("broken")
	if l.changed() || l.of(lifecycle.Record{}).Active != time.Hour {
		t.Error("a configuration that cannot be read has changed the limits")
	}
	if _, err := newLimits(read, slog.New(slog.DiscardHandler)); err == nil {
		t.Error("it begins without limits")
	}
}
