package chosen

import (
	"context"
	"time"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/commands/cmdutil"
	"github.com/berthdev/berth/internal/event"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/provision"
	"github.com/berthdev/berth/internal/terminal/progress"
	"github.com/berthdev/berth/internal/terminal/result"
)

// Change is what a command does to the workspaces.
type Change struct {
	Verb, Done string // "stop", "stopped"
	Starts     bool   // is a job, of which a record is kept
	// One changes one workspace that was found.
	One func(context.Context, *provision.Provisioner, Workspace, *event.Stream) v1.Result
}

// Run changes the workspaces; one alone is a list of one.
func (o *Options) Run(ctx context.Context, c Change) error {
	begun := time.Now()
	ctx, cancel := cmdutil.WithTimeout(ctx, o.Timeout)
	defer cancel()
	all, err := o.Parse(c.Done) // before the cluster is asked
	if err != nil {
		return err
	}
	p, err := cmdutil.Await(ctx, o.Provisioner)
	if err != nil {
		return err
	}
	recorders, err := o.Recorders(ctx)
	if err != nil {
		return err
	}
	defer recorders.Close()
	p.States, p.WaitForLock, p.NoWait = recorders.States(p.Client), o.Wait, o.NoWait
	if all, err = o.find(ctx, p, all, c.Done); err != nil {
		return err
	}
	if !c.Starts {
		defer recorders.CleanUp(ctx)()
	}
	batch := o.Batch(p.Client.Namespace, all, c.Verb, o.Again(c.Verb, o.Flags), o.Flags)
	view := progress.New(o.IO, o.Output, batch)
	work := cmdutil.NewBatch(batch, view)
	cmdutil.ForEach(len(all), o.Parallel, func(i int) {
		own, sinks := *p, []event.Sink(nil)
		if c.Starts {
			own.Jobs, sinks = recorders.New()
		}
		stream := work.Stream(i, sinks...)
		work.Finish(i, stream, c.one(ctx, &own, all[i], stream))
	})
	defer recorders.Warn(o.IO)
	r := work.Results[0]
	if o.Many() {
		r = summary(all, work.Results, cmdutil.Totals(work.Results, time.Since(begun), p.Client.Requests.Count()))
		work.FinishAll(r)
	}
	return cmdutil.Report(o.IO, o.Output, result.Of(r, batch), view)
}

// find looks the workspaces up, or lists those of the owner.
func (o *Options) find(ctx context.Context, p *provision.Provisioner, all []Workspace, done string) (_ []Workspace, err error) {
	if o.ByOwner {
		if _, all, err = o.Owned(ctx, p.Reader, p.States); err != nil {
			return nil, err
		}
	}
	return o.Find(ctx, p.Client.Namespace, all, done, p.FindRecorded)
}

// one changes one workspace, if there is time.
func (c Change) one(ctx context.Context, p *provision.Provisioner, w Workspace, stream *event.Stream) v1.Result {
	if ctx.Err() != nil {
		return cmdutil.NotStarted(ctx)
	}
	if err := OrDenied(w.Err); err != nil {
		return v1.Result{Error: result.NewError(err)}
	}
	return c.One(ctx, p, w, stream)
}

// summary is the result of several.
func summary(all []Workspace, results []v1.Result, totals v1.Totals) v1.Result {
	items := make([]v1.StateItem, len(results))
	for i, r := range results {
		w := all[i]
		items[i] = v1.StateItem{
			Argument: w.Typed, UserString: w.UserString, ID: w.ID, Namespace: w.Namespace,
			Stop: r.Stop, Workspace: r.Workspace, Error: r.Error,
		}
	}
	return v1.Result{States: &v1.StateSummary{Items: items, Totals: totals}}
}

// StopResult is the result of a stop.
func StopResult(stop *v1.Stop, err error) v1.Result {
	if err != nil {
		return v1.Result{Error: result.NewError(err)}
	}
	return v1.Result{Stop: stop}
}

// StartResult is the result of a start; one that runs already is as wanted.
func StartResult(outcome provision.Outcome, err error) v1.Result {
	if fault.CodeOf(err) == fault.AlreadyExists && outcome.Workspace != nil {
		err = nil
	}
	return cmdutil.ProvisionResult(outcome, err)
}
