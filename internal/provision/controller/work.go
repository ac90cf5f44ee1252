package controller

import (
	"cmp"
	"context"
	"log/slog"
	"time"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/event"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/job"
	"github.com/berthdev/berth/internal/lifecycle"
	"github.com/berthdev/berth/internal/provision/deploy"
	"github.com/berthdev/berth/internal/provision/desired"
	"github.com/berthdev/berth/internal/provision/inventory"
	"github.com/berthdev/berth/internal/provision/inventory/recorded"
	"github.com/berthdev/berth/internal/reconcile"
)

// lockPause is how long a workspace is left to the run that works on it.
const lockPause = 3 * time.Second

// one works on a workspace, and notes how that ended.
func (c *Controller) one(ctx context.Context, k *known, key string) (did Action, err error) {
	r, seen := k.of(key)
	if r.ID == "" || r.Pending() { // the next exchange answers it
		return Nothing, nil
	}
	did = Decide(r.Desired, seen)
	if did == Nothing {
		return did, nil
	}
	begun := c.now()
	did, err = c.do(ctx, r, did)
	if did == Start && err == nil && isOver(seen) {
		k.replacedAt(key, c.now())
	}
	switch {
	case did == Nothing && err == nil: // somebody else has done it
		return did, nil
	case desired.IsSuperseded(err):
		return Nothing, nil // the next exchange has what is wanted now
	case deploy.IsLocked(err), fault.CodeOf(err) == fault.Unavailable:
		return Nothing, err
	case ctx.Err() != nil && context.Cause(ctx) == context.Canceled: //nolint:errorlint // nobody wraps the cause
		return Nothing, err
	}
	took := c.now().Sub(begun)
	c.log(r, did, took, err)
	k.ended(key, r, err)
	if c.Done != nil {
		c.Done(did, took, err)
	}
	return did, err
}

// work is one for a loop, which tries again what failed.
func (c *Controller) work(ctx context.Context, k *known, key string) error {
	if wait := k.wait(key, c.now()); wait > 0 {
		return reconcile.Again(wait)
	}
	_, err := c.one(ctx, k, key)
	if deploy.IsLocked(err) {
		return reconcile.Again(lockPause)
	}
	return err
}

// do carries an action out, unless it was done meanwhile. Nobody waits for what comes of
// it: that is seen.
func (c *Controller) do(ctx context.Context, r lifecycle.Record, did Action) (_ Action, err error) {
	if did == Lost {
		return did, lost(r)
	}
	p := *c.Provisioner
	intent := desired.IntentOf(r, c.Guarded != nil)
	p.Intent, p.NoWait, p.Jobs = &intent, true, nil
	if intent.Guarded && !r.IsVouched() { // where it is looked for is not known to be true either
		return did, r.Vouched("")
	}
	arg, err := argument(r)
	if err != nil {
		return did, err
	}
	target, err := p.FindRecorded(ctx, arg)
	if err != nil {
		return did, ifGone(err, r, did)
	}
	if did = Decide(r.Desired, standing(target)); did == Nothing {
		return did, nil
	}
	if intent.Guarded { // before the lock, which a refusal would only hold against commands
		if err := r.Vouched(target.Found.WorkloadRef().String()); err != nil {
			return did, err
		}
	}
	var sinks []event.Sink
	if did == Start && c.Jobs != nil {
		if p.Jobs = c.Jobs(); p.Jobs != nil {
			sinks = []event.Sink{p.Jobs}
			defer c.warnOfJob(p.Jobs, r)
		}
	}
	stream := event.NewStream(r.ID, c.Provisioner.Now, sinks...)
	defer func() { stream.Finish(resultOf(err)) }()
	switch did {
	case Stop:
		_, err = p.Stop(ctx, target, false, stream)
	case Delete:
		_, err = p.Delete(ctx, target, deploy.Removing{KeepStorage: r.KeepStorage}, stream)
	default:
		if _, err = p.Start(ctx, target, stream); fault.CodeOf(err) == fault.AlreadyExists {
			did, err = Nothing, nil // somebody else has started it
		}
	}
	return did, err
}

// resultOf is how the work ended, for the record of the job.
func resultOf(err error) (r v1.Result) {
	if err != nil {
		r.Error = &v1.Error{Code: string(fault.CodeOf(err)), Message: fault.From(err).Message}
	}
	return r
}

// warnOfJob says why the record of a job could not be kept, which is no failure.
func (c *Controller) warnOfJob(jobs *job.Recorder, r lifecycle.Record) {
	if problem := jobs.Problem(); problem != nil {
		c.Log.Warn("the record of a job is not kept", slog.String("workspace", r.Key()),
			slog.String("error", message(problem)))
	}
}

// standing is a workspace that was found, and of which something is left therefore.
func standing(t *inventory.Target) lifecycle.Seen {
	return lifecycle.Seen{Pods: t.Found.Pod != nil || t.Found.Workload.Injected(), Reading: t.Found.Reading, Kept: true}
}

// argument names a workspace by its record.
func argument(r lifecycle.Record) (inventory.Argument, error) {
	return inventory.ListedArgument(recorded.Of(r, r.Namespace))
}

// ifGone is the error of a workspace that is looked for and not found.
func ifGone(err error, r lifecycle.Record, did Action) error {
	switch {
	case fault.CodeOf(err) != fault.NotFound:
		return err
	case did == Start:
		return lost(r)
	}
	return nil
}

// lost is the error of a workspace of which nothing is left, though something should be.
func lost(r lifecycle.Record) error {
	return fault.New(fault.Failed, "nothing of it is left in namespace %s: somebody has removed it", r.Namespace).
		WithHint("delete it, or provision it again")
}

// message is what is recorded of an error.
func message(err error) string { return fault.Line(cmp.Or(fault.From(err).Message, err.Error())) }

// log says what was done, for whom and why.
func (c *Controller) log(r lifecycle.Record, did Action, took time.Duration, err error) {
	attributes := []any{
		slog.String("action", string(did)), slog.String("namespace", r.Namespace), slog.String("workspace", r.ID),
		slog.String("userString", r.UserString), slog.String("desired", string(r.Desired)),
		slog.String("took", took.Round(time.Millisecond).String()),
	}
	if manager, at := r.By(); manager != "" {
		attributes = append(attributes, slog.String("recordedBy", manager), slog.Time("recordedAt", at))
	}
	if r.Reason != "" {
		attributes = append(attributes, slog.String("reason", r.Reason))
	}
	if err != nil {
		c.Log.Warn("audit", append(attributes, slog.String("error", message(err)))...)
		return
	}
	c.Log.Info("audit", attributes...)
}
