package provision

import (
	"context"
	"errors"
	"strings"
	"sync"
	"time"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/blueprint/catalog"
	"github.com/berthdev/berth/internal/commands/attach"
	"github.com/berthdev/berth/internal/commands/batch"
	"github.com/berthdev/berth/internal/commands/cmdutil"
	"github.com/berthdev/berth/internal/event"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/identity"
	"github.com/berthdev/berth/internal/provision"
	"github.com/berthdev/berth/internal/terminal/printer"
	"github.com/berthdev/berth/internal/terminal/result"
	"github.com/berthdev/berth/internal/terminal/wording"
	"github.com/berthdev/berth/internal/userstring"
)

// Run brings the workspaces up; one alone is a batch of one.
func Run(ctx context.Context, o *Options) error {
	shells := ctx
	ctx, cancel := cmdutil.WithTimeout(ctx, o.Timeout)
	defer cancel()
	users, err := cmdutil.Await(ctx, o.users) // before the cluster is asked
	if err != nil {
		return err
	}
	p, err := cmdutil.Await(ctx, o.provisioner)
	if err != nil {
		return err
	}
	if users[0].User == "" {
		if users[0].User, err = p.Users.Caller(ctx); err != nil {
			return cmdutil.Because(ctx, err)
		}
	}
	if err := o.name(ctx, p, users); err != nil {
		return cmdutil.Because(ctx, err)
	}
	recorders, err := o.Recorders(ctx)
	if err != nil {
		return err
	}
	p.States = recorders.States(p.Client)
	if o.DryRun != "" && !o.Update {
		defer recorders.Close()
		return o.dryRun(ctx, p, users[0])
	}
	if o.Update {
		err = o.update(ctx, p, users[0], recorders)
	} else {
		err = o.provisionAll(ctx, p, users, recorders)
	}
	recorders.Close() // a shell may be open for long
	if err != nil || !o.Exec {
		return err
	}
	return o.enter(shells, users[0])
}

// provisionAll provisions all of them, some at a time. They share the connection
// and the blueprints; each keeps a record of its own.
func (o *Options) provisionAll(
	ctx context.Context, p *provision.Provisioner, users []userstring.UserString, recorders *cmdutil.Recorders,
) error {
	begun, load := time.Now(), p.Blueprints
	blueprints := sync.OnceValues(func() (*catalog.Set, error) { return load(ctx) })
	p.Blueprints = func(context.Context) (*catalog.Set, error) { return blueprints() }
	return batch.Work{
		IO: o.IO, Output: o.Output, Batch: o.batch(p, users), Recorders: recorders, Timing: o.Timing,
		Begun: begun, Requests: p.Client.Requests.Count, Ended: o.Ended,
		Summary: func(results []v1.Result, totals v1.Totals) v1.Result { return summary(users, results, totals) },
		One: func(ctx context.Context, m batch.Member) v1.Result {
			own := *p
			own.Jobs = m.Jobs
			ctx, cancel := batch.InTime(ctx, &own, users[m.Index], o.Timed || o.Wait)
			defer cancel()
			return o.provisionOne(ctx, &own, users[m.Index], m.Stream)
		},
	}.Run(ctx)
}

// update brings the workspace to what its blueprint says now, whether it exists or not.
func (o *Options) update(
	ctx context.Context, p *provision.Provisioner, u userstring.UserString, recorders *cmdutil.Recorders,
) error {
	updating := batch.Updating{
		IO: o.IO, Output: o.Output, Flags: o.Flags, Verb: "provision", Enters: o.Exec, Yes: o.Yes, Timing: o.Timing,
		Timed: o.Timed || o.Wait, SSH: cmdutil.HasSSH(),
		How: provision.Updating{Create: true, DryRun: o.DryRun}, Ended: o.Ended,
	}
	return updating.Run(ctx, p, u, recorders)
}

// enter runs the shell of a workspace that runs now. Whatever --timeout says, the
// shell has as long as it takes. That it cannot be entered has exec's exit status.
func (o *Options) enter(ctx context.Context, u userstring.UserString) error {
	a := attach.Attacher{
		Command: attach.Command{IO: o.IO}, Workspaces: o.Workspaces, States: o.States, Flags: o.Flags, NoWait: true,
	}
	session, err := a.Find(ctx, u.String())
	if err == nil {
		err = a.Enter(ctx, session)
	}
	if _, passedOn := errors.AsType[cmdutil.ExitError](err); err == nil || passedOn || ctx.Err() != nil {
		return err
	}
	if err := printer.PrintError(o.IO, o.Output, *result.NewError(err)); err != nil {
		return err
	}
	return cmdutil.ExitError(attach.ExitFailed)
}

// name gives the user strings the IDs that their workspaces have, or will have.
func (o *Options) name(ctx context.Context, p *provision.Provisioner, users []userstring.UserString) (err error) {
	for i := range users {
		if users[i], err = p.Named(ctx, users[i]); err != nil {
			return err
		}
	}
	return nil
}

// users are whose workspaces are wanted; the one without a name is the caller.
func (o *Options) users() ([]userstring.UserString, error) {
	switch {
	case o.FromFile:
		return readFile(o.File, o.IO.In)
	case o.UserString == "":
		return []userstring.UserString{{}}, nil
	}
	u, err := cmdutil.ParseUser(o.UserString)
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
	p.Overrides, p.OnFailure, p.ForceInjection = overrides, o.OnFailure, o.Force
	p.StrictScripts = o.Strict
	p.Users = identity.Cached(p.Users)
	return p, nil
}

// batch is what the progress is about.
func (o *Options) batch(p *provision.Provisioner, users []userstring.UserString) wording.Batch {
	again := append([]string{"berth provision", wording.Flag("-f", o.File)}, batch.ParallelFlag(o.Parallel)...)
	b := wording.Batch{
		Single: !o.FromFile, Namespace: p.Client.Namespace, Parallel: o.Parallel, Flags: o.Flags,
		Again: strings.Join(append(append(again, "--if-not-exists"), o.Flags...), " "),
	}
	ssh := cmdutil.HasSSH()
	for _, u := range users {
		b.Members = append(b.Members, wording.Title{
			UserString: u.String(), ID: u.ID(), Namespace: p.For(u).Client.Namespace,
			Verb: "provision", Flags: o.Flags, Enters: o.Exec, SSH: ssh,
		})
	}
	return b
}

// provisionOne provisions one workspace.
func (o *Options) provisionOne(
	ctx context.Context, p *provision.Provisioner, u userstring.UserString, stream *event.Stream,
) v1.Result {
	outcome, err := p.Provision(ctx, u, stream)
	if w := outcome.Workspace; w != nil && w.Timing != nil && o.FromFile {
		w.Timing.Requests = 0 // they share the connection: only the number of all is known
	}
	if (o.IfNotExists || o.Exec) && fault.CodeOf(err) == fault.AlreadyExists && outcome.Workspace != nil {
		err = nil
	}
	return batch.ProvisionResult(outcome, err)
}

// summary is the result of several.
func summary(users []userstring.UserString, results []v1.Result, totals v1.Totals) v1.Result {
	items := make([]v1.ProvisionItem, len(results))
	for i, r := range results {
		items[i] = v1.ProvisionItem{
			UserString: users[i].String(), ID: users[i].ID(), Workspace: r.Workspace,
			Error: r.Error,
		}
	}
	return v1.Result{Summary: &v1.ProvisionSummary{Items: items, Totals: totals}}
}
