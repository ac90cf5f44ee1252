package controller

import (
	"context"
	"log/slog"
	"math"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"
	"k8s.io/apimachinery/pkg/util/wait"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/provision/inventory/fleet"
	"github.com/berthdev/berth/internal/reconcile"
)

// The pause before what has failed is tried again: the least, and the most.
const (
	leastPause = time.Second
	mostPause  = time.Minute
)

// newPauses are the pauses between tries of what fails.
func newPauses() wait.Backoff {
	return wait.Backoff{Duration: leastPause, Factor: 2, Cap: mostPause, Steps: math.MaxInt}
}

// Run works until ctx ends. Nothing ends it before: an API server or a store that cannot be
// reached is waited for. Ready is called when everything is known for the first time.
func (c *Controller) Run(ctx context.Context, ready func()) {
	k := newKnown()
	seen, recorded := make(chan struct{}), make(chan struct{})
	listed, loaded := sync.OnceFunc(func() { close(seen) }), sync.OnceFunc(func() { close(recorded) })
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error {
		c.again(ctx, "watching workspaces", func(ctx context.Context) error {
			return fleet.Watch(ctx, c.Provisioner.Reader, fleet.Query{Namespace: c.Namespace, Claims: true},
				&handler{known: k, listed: listed, log: c.Log})
		})
		return nil
	})
	group.Go(func() error {
		c.again(ctx, "watching records", func(ctx context.Context) error {
			if err := c.reload(ctx, k); err != nil {
				return err
			}
			loaded()
			return c.Provisioner.States.Of(c.Namespace).Watch(ctx, c.Namespace, k.setRecord)
		})
		return nil
	})
	if await(ctx, seen) && await(ctx, recorded) {
		ready()
		loop := &reconcile.Loop[string]{
			Workers: c.Workers, Timeout: c.Timeout, Backoff: reconcile.DefaultBackoff(), Log: c.Log,
			Feed:      func(ctx context.Context, add func(string)) { c.exchanges(ctx, k, add) },
			Reconcile: func(ctx context.Context, key string) error { return c.work(ctx, k, key) },
			Done:      func(key string, _ time.Duration, err error) { k.defective(key, err) },
		}
		loop.Run(ctx, nil)
	}
	_ = group.Wait() // nothing there returns an error
}

// exchanges makes one exchange after the other, and adds what has to be worked on.
func (c *Controller) exchanges(ctx context.Context, k *known, add func(string)) {
	full, last, pauses := true, time.Time{}, newPauses()
	for {
		full = full || c.now().Sub(last) >= c.Full || c.Changed != nil && c.Changed()
		var todo []string
		var complete bool
		begun := c.now()
		err := reconcile.Guard(c.Log, "exchange", func() (err error) {
			todo, complete, err = c.exchange(ctx, k, full)
			return err
		})
		for _, key := range todo {
			add(key)
		}
		pause := c.Partial
		switch {
		case ctx.Err() != nil:
			return
		case err != nil:
			full, pause = true, pauses.Step() // what was written is not known
			c.Log.Error("an exchange failed", slog.String("error", message(err)), slog.String("pause", pause.String()))
		default:
			pauses = newPauses()
			if full && complete {
				last = c.now()
				c.Log.Info("all workspaces are compared", slog.Int("workspaces", len(k.copyRecords())),
					slog.Duration("took", last.Sub(begun)))
			}
			full = full && !complete
		}
		if !sleep(ctx, pause) {
			return
		}
	}
}

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
