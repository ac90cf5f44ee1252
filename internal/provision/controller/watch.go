package controller

import (
	"context"
	"log/slog"
	"sync/atomic"
	"time"

	v1 "github.com/berthdev/berth/api/v1"
)

// again does something that ends only when it fails, until ctx ends.
func (c *Controller) again(ctx context.Context, what string, do func(context.Context) error) {
	pause := leastPause
	for {
		begun := c.now()
		err := do(ctx)
		if ctx.Err() != nil {
			return
		}
		if c.now().Sub(begun) > mostPause {
			pause = leastPause
		}
		c.Log.Warn(what+" ended", slog.String("error", message(err)), slog.String("pause", pause.String()))
		if !sleep(ctx, pause) {
			return
		}
		pause = min(2*pause, mostPause)
	}
}

// sleep is false if ctx ends before the time is over.
func sleep(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}

// gate is closed until something is known.
type gate struct {
	opened chan struct{}
	once   atomic.Bool
}

func newGate() *gate { return &gate{opened: make(chan struct{})} }

func (g *gate) open() {
	if g.once.CompareAndSwap(false, true) {
		close(g.opened)
	}
}

// wait is false if ctx ends before it opens.
func (g *gate) wait(ctx context.Context) bool {
	select {
	case <-ctx.Done():
		return false
	case <-g.opened:
		return true
	}
}

// handler is told of workspaces by one watch: first of all, then of those that change.
type handler struct {
	known  *known
	listed func()
	begun  bool
	log    *slog.Logger
}

// Changed notes workspaces.
func (h *handler) Changed(all []v1.Workspace) {
	if h.begun {
		h.known.see(all)
		return
	}
	h.begun = true
	h.known.seeAll(all)
	h.listed()
}

// Interrupted says that the cluster cannot be reached.
func (h *handler) Interrupted(err error) {
	h.log.Warn("the watch of workspaces is interrupted", slog.String("error", message(err)))
}
