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
func (o *Options) provisionAll(ctx context.Context, p *provision.Provisioner, b wording.Batch, users []userstring.UserString, view progress.Renderer, recorders *cmdutil.Recorders) v1.Result {
	begun, load := time.Now(), p.Blueprints
	blueprints := sync.OnceValues(func() (*catalog.Set, error) { return load(ctx) })
	members := cmdutil.NewMembers(b, view)
	items := make([]v1.ProvisionItem, len(users))
	cmdutil.ForEach(len(users), o.Parallel, func(i int) {
		u, own := users[i], *p
		own.Blueprints = func(context.Context) (*catalog.Set, error) { return blueprints() }
		recorder, sinks := recorders.New()
		own.Jobs = recorder
		stream := members.Stream(u.ID(), sinks...)
		r := o.provisionOne(ctx, &own, u, stream)
		if r.Error != nil {
			r.Error.Hint = b.Members[i].Located(r.Error.Hint)
		}
		if !b.Single {
			withoutRequests(r)
		}
		items[i] = v1.ProvisionItem{UserString: u.String(), ID: u.ID(), Workspace: r.Workspace, Error: r.Error}
		stream.Finish(r)
	})
	r := v1.Result{Workspace: items[0].Workspace, Error: items[0].Error}
	if !b.Single {
		r = v1.Result{Summary: summarize(items, time.Since(begun), p.Client.Requests.Count())}
	}
	members.Finish(r)
	return r
}

// provisionOne provisions one workspace, unless there is no time left to start.
func (o *Options) provisionOne(ctx context.Context, p *provision.Provisioner, u userstring.UserString, stream *event.Stream) v1.Result {
	if ctx.Err() != nil {
		return cmdutil.NotStarted(ctx)
	}
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

func summarize(items []v1.ProvisionItem, took time.Duration, requests int) *v1.ProvisionSummary {
	var tally cmdutil.Tally
	for _, item := range items {
		tally.Add(item.Error)
	}
	return &v1.ProvisionSummary{
		Items:     items,
		Succeeded: tally.Succeeded, Failed: tally.Failed, ExitStatus: tally.ExitStatus,
		Seconds: took.Seconds(), Requests: requests,
	}
}
