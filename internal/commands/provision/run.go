package provision

import (
	"context"
	"io"
	"strings"
	"sync"
	"time"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/blueprint/catalog"
	"github.com/berthdev/berth/internal/commands/cmdutil"
	"github.com/berthdev/berth/internal/event"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/identity"
	"github.com/berthdev/berth/internal/provision"
	"github.com/berthdev/berth/internal/terminal/progress"
	"github.com/berthdev/berth/internal/terminal/result"
	"github.com/berthdev/berth/internal/terminal/style"
	"github.com/berthdev/berth/internal/terminal/wording"
	"github.com/berthdev/berth/internal/userstring"
)

// Run brings the workspaces up; one alone is a batch of one.
func Run(ctx context.Context, o *Options) error {
	users, err := o.users() // before the cluster is asked
	if err != nil {
		return err
	}
	p, err := o.provisioner()
	if err != nil {
		return err
	}
	ctx, cancel := cmdutil.WithTimeout(ctx, o.Timeout)
	defer cancel()
	if users[0].User == "" {
		if users[0].User, err = p.Users.Caller(ctx); err != nil {
			return cmdutil.Because(ctx, err)
		}
	}
	if o.DryRun != "" {
		return o.preview(ctx, p, users[0])
	}
	recorders, err := o.Recorders(ctx)
	if err != nil {
		return err
	}
	defer recorders.Close()
	batch := o.batch(p, users)
	view := progress.New(o.IO, o.Output, batch)
	r := o.provisionAll(ctx, p, batch, users, view, recorders)
	defer recorders.Warn(o.IO)
	err = cmdutil.Report(o.IO, o.Output, result.Of(r, batch), view)
	if o.Timing {
		_, _ = io.WriteString(o.IO.Err, style.JoinLines(result.TimingLines(r, o.IO.Err.Styles())))
	}
	return err
}

// users are whose workspaces are wanted; the one without a name is the caller.
func (o *Options) users() ([]userstring.UserString, error) {
	switch {
	case o.FromFile:
		return readFile(o.File, o.IO.In)
	case o.UserString == "":
		return []userstring.UserString{{}}, nil
	}
	u, err := parse(o.UserString)
	return []userstring.UserString{u}, err
}

// provisioner is one that works as the flags say. It asks for what several
// workspaces have in common only once.
func (o *Options) provisioner() (*provision.Provisioner, error) {
	overrides, err := o.Set.Overrides()
	if err != nil {
		return nil, err
	}
	p, err := o.Provisioner()
	if err != nil {
		return nil, err
	}
	p.WaitForLock, p.NoWait, p.CreateNamespace = o.Wait, o.NoWait, o.CreateNamespace
	p.Overrides, p.OnFailure, p.Injection.Force = overrides, o.OnFailure, o.Force
	p.Users = identity.Cached(p.Users)
	return p, nil
}

// batch is what the progress is about.
func (o *Options) batch(p *provision.Provisioner, users []userstring.UserString) wording.Batch {
	again := append([]string{"berth provision", wording.Flag("-f", o.File)}, cmdutil.ParallelFlag(o.Parallel)...)
	b := wording.Batch{
		Single: !o.FromFile, Namespace: p.Client.Namespace, Parallel: o.Parallel, Flags: o.Flags,
		Again: strings.Join(append(append(again, "--if-not-exists"), o.Flags...), " "),
	}
	for _, u := range users {
		b.Members = append(b.Members, wording.Title{UserString: u.String(), ID: u.ID(), Namespace: p.For(u).Client.Namespace, Verb: "provision", Flags: o.Flags})
	}
	return b
}

// provisionAll provisions all of them, some at a time. They share the connection
// and the blueprints; each keeps a record of its own.
func (o *Options) provisionAll(ctx context.Context, p *provision.Provisioner, b wording.Batch, users []userstring.UserString, view event.Sink, recorders *cmdutil.Recorders) v1.Result {
	begun, load := time.Now(), p.Blueprints
	blueprints := sync.OnceValues(func() (*catalog.Set, error) { return load(ctx) })
	return cmdutil.RunBatch(ctx, b, view, func(i int, begin func(...event.Sink) *event.Stream) v1.Result {
		own := *p
		own.Blueprints = func(context.Context) (*catalog.Set, error) { return blueprints() }
		recorder, sinks := recorders.New()
		own.Jobs = recorder
		r := o.provisionOne(ctx, &own, users[i], begin(sinks...))
		if !b.Single {
			withoutRequests(r)
		}
		return r
	}, func(results []v1.Result) v1.Result {
		if b.Single {
			return results[0]
		}
		return summary(users, results, cmdutil.Totals(results, time.Since(begun), p.Client.Requests.Count()))
	})
}

// provisionOne provisions one workspace.
func (o *Options) provisionOne(ctx context.Context, p *provision.Provisioner, u userstring.UserString, stream *event.Stream) v1.Result {
	outcome, err := p.Provision(ctx, u, stream)
	if err == nil || o.IfNotExists && fault.CodeOf(err) == fault.AlreadyExists && outcome.Workspace != nil {
		return v1.Result{Workspace: outcome.Workspace}
	}
	document := result.NewError(err)
	document.Workspace, document.Logs = outcome.Workspace, outcome.Logs
	document.Left, document.Problems = outcome.Left, append(document.Problems, outcome.Problems...)
	return v1.Result{Error: document}
}

// withoutRequests leaves out the number of requests of one workspace: several
// share the connection, and only the number of all is known.
func withoutRequests(r v1.Result) {
	w := r.Workspace
	if r.Error != nil {
		w = r.Error.Workspace
	}
	if w != nil && w.Timing != nil {
		w.Timing.Requests = 0
	}
}

// summary is the result of several.
func summary(users []userstring.UserString, results []v1.Result, totals v1.Totals) v1.Result {
	items := make([]v1.ProvisionItem, len(results))
	for i, r := range results {
		items[i] = v1.ProvisionItem{UserString: users[i].String(), ID: users[i].ID(), Workspace: r.Workspace, Error: r.Error}
	}
	return v1.Result{Summary: &v1.ProvisionSummary{Items: items, Totals: totals}}
}
