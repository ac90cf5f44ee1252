//go:build linux

package driver

import (
	"context"
	"errors"
	"log/slog"

	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/volume"
	"github.com/berthdev/berth/internal/volume/tree"
)

// mostMeasured is how many files a volume may have to be measured.
const mostMeasured = 1_000_000

// toMeasure tells that there is something to measure.
func (d *Driver) toMeasure() {
	select {
	case d.measure <- struct{}{}:
	default:
	}
}

// measureAll measures volumes in their afterlife, one after the other, until ctx ends.
func (d *Driver) measureAll(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-d.measure:
		}
		for ctx.Err() == nil {
			v, ok := d.queue.Unmeasured(d.isLarge)
			if !ok {
				break
			}
			d.measureOne(ctx, v)
		}
	}
}

// measureOne measures a volume. What cannot be measured stays unknown.
func (d *Driver) measureOne(ctx context.Context, v volume.Volume) {
	size, err := d.dir.Measure(ctx, v.PodUID, v.ID, mostMeasured)
	if err == nil {
		d.queue.Measured(v.ID, size.Bytes, size.Inodes)
		return
	}
	if _, err := d.waiting(v.ID); err != nil || ctx.Err() != nil {
		return // it was removed, or is in use again
	}
	d.mu.Lock()
	d.large[v.ID] = true
	d.mu.Unlock()
	if !errors.Is(err, tree.ErrLarge) {
		d.o.Log.Warn("a volume cannot be measured", slog.String("volume", v.ID),
			slog.String("error", fault.Line(err.Error())))
	}
}

// isLarge says whether a volume was not measured to its end.
func (d *Driver) isLarge(id string) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.large[id]
}

func (d *Driver) forgetLarge(id string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.large, id)
}
