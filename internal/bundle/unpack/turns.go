package unpack

import (
	"context"
	"io/fs"
	"time"

	"github.com/berthdev/berth/internal/bundle/format"
	"github.com/berthdev/berth/internal/chart"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/reconcile"
)

// What a chart may take beside others. Nearly all take a fraction of that; one that takes more
// is left to the slow worker, which renders one at a time, with all that a rendering may take.
const (
	besideTime   = time.Second
	besideMemory = 48 << 20 // bytes
	beside       = 2        // at once
)

// Turns are those to read content, of a server's workers, as that takes much memory for a while.
// All of them together stay within that of a server's pod.
type Turns struct {
	parsing chan struct{} // has the one that reads what is no chart
	quick   chan struct{} // those that render charts beside others
	slow    chan struct{} // the one that renders a chart that takes more
}

// NewTurns makes those of a server.
func NewTurns() *Turns {
	return &Turns{
		parsing: make(chan struct{}, 1), quick: make(chan struct{}, beside), slow: make(chan struct{}, 1),
	}
}

// Load reads content when it is its turn; without turns, at once.
func (t *Turns) Load(ctx context.Context, fsys fs.FS, o format.Options) (*format.Package, error) {
	if t == nil {
		return format.Load(ctx, fsys, o)
	}
	turn := t.parsing
	switch {
	case o.Format == format.Helm && reconcile.IsSlow(ctx):
		turn = t.slow
	case o.Format == format.Helm:
		turn = t.quick
		if o.RenderTime == 0 || o.RenderTime > besideTime {
			o.RenderTime = besideTime
		}
		o.RenderMemory = besideMemory
	}
	select {
	case turn <- struct{}{}:
		defer func() { <-turn }()
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	p, err := format.Load(ctx, fsys, o)
	if turn == t.quick && takesMore(err) {
		return nil, reconcile.Slowly(err)
	}
	return p, err
}

// takesMore says whether a chart was given up because of what it may take beside others.
func takesMore(err error) bool {
	reason := fault.ReasonOf(err)
	return reason == chart.ReasonTime || reason == chart.ReasonMemory
}
