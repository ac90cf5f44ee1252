package unpack

import (
	"context"
	"io/fs"
	"time"

	"github.com/berthdev/berth/internal/bundle/format"
	"github.com/berthdev/berth/internal/bundle/kustomize"
	"github.com/berthdev/berth/internal/chart"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/reconcile"
)

// What a chart may take beside others. Nearly all take a fraction of that; one that takes more
// is left to the slow worker, which renders one at a time, with all that a rendering may take. A kustomization is built
// by a process, which takes a while to start.
const (
	besideTime   = time.Second
	besideMemory = 48 << 20 // bytes
	beside       = 2        // at once
	besideBuild  = 3 * time.Second
)

// Turns are those to read content, of a server's workers, as that takes much memory for a while.
// All of them together stay within that of a server's pod.
type Turns struct {
	parsing  chan struct{} // has the one that reads what is no chart
	building chan struct{} // the one that builds a kustomization beside others
	quick    chan struct{} // those that render charts beside others
	slow     chan struct{} // the one that renders a chart, or builds a kustomization, that takes more
}

// NewTurns makes those of a server.
func NewTurns() *Turns {
	return &Turns{
		parsing: make(chan struct{}, 1), building: make(chan struct{}, 1), quick: make(chan struct{}, beside),
		slow: make(chan struct{}, 1),
	}
}

// Load reads content when it is its turn; without turns, at once.
func (t *Turns) Load(ctx context.Context, fsys fs.FS, o format.Options) (*format.Package, error) {
	if t == nil {
		return format.Load(ctx, fsys, o)
	}
	turn := t.parsing
	switch {
	case o.Format != format.Helm && o.Format != format.Kustomize:
	case reconcile.IsSlow(ctx):
		turn = t.slow
	case o.Format == format.Helm:
		turn = t.quick
		o.RenderTime, o.RenderMemory = atMost(o.RenderTime, besideTime), besideMemory
	default:
		turn = t.building
		o.RenderTime = atMost(o.RenderTime, besideBuild)
	}
	var held place
	defer held.leave()
	if err := held.take(ctx, turn); err != nil {
		return nil, err
	}
	// What a kustomization makes is read as all else is.
	o.Built = func(ctx context.Context) error { return held.take(ctx, t.parsing) }
	p, err := format.Load(ctx, fsys, o)
	if turn != t.slow && takesMore(err) {
		return nil, reconcile.Slowly(err)
	}
	return p, err
}

// place is a turn that is held; nil for none.
type place struct{ turn chan struct{} }

// take leaves the turn that is held, and waits for another one.
func (p *place) take(ctx context.Context, turn chan struct{}) error {
	p.leave()
	select {
	case turn <- struct{}{}:
		p.turn = turn
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func (p *place) leave() {
	if p.turn != nil {
		<-p.turn
		p.turn = nil
	}
}

// atMost is a time, where 0 is any, or most.
func atMost(limit, most time.Duration) time.Duration {
	if limit == 0 {
		return most
	}
	return min(limit, most)
}

// takesMore says whether one was given up because of what it may take beside others.
func takesMore(err error) bool {
	switch fault.ReasonOf(err) {
	case chart.ReasonTime, chart.ReasonMemory, kustomize.ReasonTime:
		return true
	}
	return false
}
