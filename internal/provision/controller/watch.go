package controller

import (
	"context"
	"log/slog"
	"time"

	v1 "github.com/berthdev/berth/api/v1"
)

// again does something that ends only when it fails, until ctx ends.
func (c *Controller) again(ctx context.Context, what string, do func(context.Context) error) {
	pauses := newPauses()
	for {
		begun := c.now()
		err := do(ctx)
		if ctx.Err() != nil {
			return
		}
		if c.now().Sub(begun) > mostPause {
			pauses = newPauses()
		}
		pause := pauses.Step()
		c.Log.Warn(what+" ended", slog.String("error", message(err)), slog.String("pause", pause.String()))
		if !sleep(ctx, pause) {
			return
		}
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

// await is false if ctx ends before what is waited for has happened.
func await(ctx context.Context, happened <-chan struct{}) bool {
	select {
	case <-ctx.Done():
		return false
	case <-happened:
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
