// Package controller brings workspaces to their desired state: all the time as the
// leader, or in one pass. What is meant is recorded; what has to be done about it is decided
// by package lifecycle, of a report that is made here of what stands on the cluster.
package controller

import (
	"context"
	"log/slog"
	"slices"
	"time"

	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/job"
	"github.com/berthdev/berth/internal/lifecycle"
	"github.com/berthdev/berth/internal/provision"
)

// Controller is what works on the workspaces of a namespace, or of all.
type Controller struct {
	// Provisioner starts, stops and deletes. It has the place of the records.
	Provisioner *provision.Provisioner
	Namespace   string // empty for all
	// Limits are those of a workspace. They are asked for at each exchange.
	Limits func(lifecycle.Record) lifecycle.Limits
	// Guarded returns nil if the cluster admits records only of authors who may do what they
	// vouch for, and is asked before each exchange; nil if whatever is recorded is done, but
	// for deleting storage.
	Guarded func(context.Context) error
	// Jobs makes what keeps the record of a start; nil, or what it returns, keeps none.
	Jobs    func() *job.Recorder
	Workers int           // at most this many workspaces are worked on at once
	Timeout time.Duration // of the work on one workspace
	Log     *slog.Logger
	// Partial is the time between two exchanges, Full between two that compare everything.
	// A pass needs neither.
	Partial, Full time.Duration
	// Changed is true once after the limits have changed, so that everything is compared
	// again; nil if they do not.
	Changed func() bool
	// Done is told how the work on a workspace ended; it may be nil.
	Done func(did Action, took time.Duration, err error)
}

func (c *Controller) now() time.Time { return c.Provisioner.Now().UTC() }

// exchange compares what is known: all of it in a full exchange, else what has changed. It
// returns the keys of the workspaces to work on, and whether the exchange was complete:
// what others changed meanwhile is left to the next one.
func (c *Controller) exchange(ctx context.Context, k *known, full bool) (todo []string, complete bool, err error) {
	if c.Guarded != nil {
		if err := c.Guarded(ctx); err != nil {
			return nil, false, err
		}
	}
	if full {
		if err := c.reload(ctx, k); err != nil {
			return nil, false, err
		}
	}
	c.adopt(ctx, k, full)
	if err := c.lookForRemains(ctx, k, full); err != nil {
		return nil, false, err
	}
	records := k.copyRecords()
	pass, err := c.Provisioner.States.Exchange(ctx, records, k.report(full), c.limits, c.now())
	if err != nil {
		return nil, false, err
	}
	k.exchanged(pass.Written)
	for _, id := range pass.Answer.Orphans {
		c.Log.Debug("a workspace without a record is left alone", slog.String("workspace", id))
	}
	for _, w := range pass.Answer.Workspaces {
		if r := pass.Written[w.ID]; w.Desired != records[w.ID].Desired && r.Reason != "" {
			c.Log.Info("a limit is reached", slog.String("workspace", w.ID), slog.String("limit", r.Reason),
				slog.String("desired", string(w.Desired)))
		}
		if w.Apply {
			todo = append(todo, w.ID)
		}
	}
	if err := c.readAgain(ctx, k, pass.Missed); err != nil {
		return nil, false, err
	}
	todo = append(todo, k.takeTouched()...)
	slices.Sort(todo)
	return slices.Compact(todo), len(pass.Missed) == 0, c.forgetDone(ctx, k)
}

// limits are those of a record that somebody vouches for.
func (c *Controller) limits(r lifecycle.Record) lifecycle.Limits {
	if c.Guarded != nil && !r.IsVouched() {
		return lifecycle.Limits{}
	}
	return c.Limits(r)
}

// reload reads all records. Those that cannot be read are logged, and left alone.
func (c *Controller) reload(ctx context.Context, k *known) error {
	all, damaged, err := c.Provisioner.States.Of(c.Namespace).List(ctx)
	if err != nil {
		return err
	}
	for _, problem := range damaged {
		c.Log.Error("a record is left alone", slog.String("error", problem.Error()))
	}
	k.replaceRecords(all)
	return nil
}

// readAgain reads records that others have changed during an exchange.
func (c *Controller) readAgain(ctx context.Context, k *known, keys []string) error {
	for _, key := range keys {
		namespace, id := lifecycle.SplitKey(key)
		r, err := c.Provisioner.States.Of(namespace).Get(ctx, id)
		if err != nil {
			return err
		}
		k.setRecord(key, r)
	}
	return nil
}

// forgetDone deletes the records of workspaces that are gone and were meant to go.
func (c *Controller) forgetDone(ctx context.Context, k *known) error {
	for key, r := range k.copyRecords() {
		if !r.Done() {
			continue
		}
		err := c.Provisioner.States.Of(r.Namespace).Delete(ctx, r)
		if fault.CodeOf(err) == fault.Conflict {
			continue // a new incarnation
		}
		if err != nil {
			return err
		}
		k.setRecord(key, lifecycle.Record{})
	}
	return nil
}
