package batch

import (
	"context"
	"fmt"
	"time"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/apply"
	"github.com/berthdev/berth/internal/commands/cmdutil"
	"github.com/berthdev/berth/internal/english"
	"github.com/berthdev/berth/internal/event"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/kube"
	"github.com/berthdev/berth/internal/provision"
	"github.com/berthdev/berth/internal/terminal"
	"github.com/berthdev/berth/internal/terminal/printer"
	"github.com/berthdev/berth/internal/terminal/result"
	"github.com/berthdev/berth/internal/terminal/wording"
	"github.com/berthdev/berth/internal/userstring"
)

// Preview finds out what would change about a workspace, and changes nothing: of its events, remarks and warnings
// alone are printed.
func Preview[T any](s terminal.Streams, id string, find func(*event.Stream) (T, error)) (T, error) {
	stream := event.NewStream(id, time.Now, notes{s})
	defer stream.Finish(v1.Result{})
	return find(stream)
}

// notes prints the remarks and warnings of a stream, and nothing else.
type notes struct{ terminal.Streams }

// Handle prints a remark or a warning.
func (n notes) Handle(e v1.Event) {
	switch {
	case e.Progress != nil:
		printer.PrintNote(n.Streams, e.Progress.Message)
	case e.Warning != nil:
		printer.PrintNote(n.Streams, wording.WarningText(*e.Warning))
	}
}

// Confirm asks whether something is to be done, and fails if it is not; done is what it would have been: "deleted".
func Confirm(ctx context.Context, s terminal.Streams, question, done string) error {
	yes, err := terminal.Confirm(ctx, s, question)
	if err == nil && !yes {
		err = fault.New(fault.Interrupted, "not confirmed: nothing was %s", done)
	}
	return err
}

// DryRunError is the error of a dry run: if its context has ended, the reason for
// that, since nothing but reading was under way.
func DryRunError(ctx context.Context, err error) error {
	if err == nil || ctx.Err() == nil {
		return err
	}
	why := *fault.From(context.Cause(ctx))
	if why.Code == fault.DeadlineExceeded {
		why.Message += " while computing the changes; nothing was changed"
	}
	return &why
}

// PrintChanges prints the changes of a dry run, or returns why there are none.
func PrintChanges(
	ctx context.Context, s terminal.Streams, format printer.Format, mode apply.DryRun, changes apply.Changes, err error,
) error {
	if err := DryRunError(ctx, err); err != nil {
		return err
	}
	objects := result.NewObjects()
	for _, c := range changes {
		c.Object.SetManagedFields(nil) // as kubectl shows objects
		objects.Add(string(c.Action), c.Object.Object)
	}
	if err := printer.Print(s, format, objects); err != nil {
		return err
	}
	checked := ""
	if mode == apply.DryRunServer && len(changes) > 0 {
		checked = " The API server has checked them."
	}
	changed := english.Plural(len(changes), "change")
	printer.PrintNote(s, fmt.Sprintf("dry run: %s.%s Nothing was changed.", changed, checked))
	return nil
}

// InTime is the context of one workspace: unless --timeout says how long all of them may take together, each has the
// time that the configuration gives it. A question at a terminal takes none of it, and --wait is to wait for as long as
// it takes.
func InTime(
	ctx context.Context, p *provision.Provisioner, u userstring.UserString, timed bool,
) (context.Context, context.CancelFunc) {
	if timed {
		return ctx, func() {}
	}
	return cmdutil.WithTimeout(ctx, p.Timeout(u))
}

// Updating brings a workspace to what its blueprint says now.
type Updating struct {
	IO     terminal.Streams
	Output printer.Format
	Flags  []string
	Verb   string // of the command
	Enters bool   // it enters the workspace then
	SSH    bool   // there is a client of SSH
	Yes    bool   // without a question
	Timing bool   // is printed at the end
	Timed  bool   // the context ends when the command line says so, and no earlier
	How    provision.Updating
	// Ended is told the result once it has been printed; nil for nothing.
	Ended func(v1.Result)
}

// Run shows what would change, asks at a terminal, and updates the workspace.
func (o Updating) Run(
	ctx context.Context, p *provision.Provisioner, u userstring.UserString, recorders *cmdutil.Recorders,
) error {
	plan, err := Preview(o.IO, u.ID(), func(stream *event.Stream) (*provision.Update, error) {
		return p.PlanUpdate(ctx, u, o.How, stream)
	})
	if err != nil {
		return DryRunError(ctx, err) // nothing was written
	}
	o.show(plan, u, len(p.Overrides) > 0)
	if o.How.DryRun != apply.DryRunNone {
		return PrintChanges(ctx, o.IO, o.Output, o.How.DryRun, plan.Objects, nil)
	}
	if err := o.confirm(ctx, plan, u); err != nil {
		return err
	}
	return o.report(ctx, p, plan, u, recorders)
}

// show says what differs. What is asked for is not what the blueprint says where flags are laid
// over it.
func (o Updating) show(plan *provision.Update, u userstring.UserString, overridden bool) {
	same, differs := "is what its blueprint says: there is nothing to update", "is not what its blueprint says now:"
	switch {
	case o.How.Rollback:
		same, differs = "is what it was before: there is nothing to change", "is not what it was before:"
	case overridden:
		same, differs = "is what is asked for: there is nothing to update", "differs from what is asked for:"
	}
	switch {
	case plan.Idle():
		printer.PrintNote(o.IO, fmt.Sprintf("%s %s", u, same))
	case plan.Differs():
		printer.PrintNote(o.IO, fmt.Sprintf("%s %s", u, differs))
		for _, field := range plan.Changes {
			printer.PrintNote(o.IO, "  "+field)
		}
		for _, s := range plan.Storage {
			printer.PrintNote(o.IO, fmt.Sprintf("  storage %s grows from %s to %s", s.Name, s.From, s.To))
		}
	}
}

// confirm names the objects that would change, and asks.
func (o Updating) confirm(ctx context.Context, plan *provision.Update, u userstring.UserString) error {
	if o.Yes || !plan.Differs() || !o.IO.CanAsk() {
		return nil
	}
	for _, c := range plan.Objects {
		printer.PrintNote(o.IO, fmt.Sprintf("  %s %s", c.Action, kube.Object(c.Object.GetKind(), c.Object.GetName())))
	}
	question := fmt.Sprintf("Update %s? What runs in it ends, and only files in its storages are kept.", u)
	return Confirm(ctx, o.IO, question, "changed")
}

// report updates the workspace, shows how, and prints the result.
func (o Updating) report(
	ctx context.Context, p *provision.Provisioner, plan *provision.Update, u userstring.UserString,
	recorders *cmdutil.Recorders,
) error {
	title := wording.Title{
		UserString: u.String(), ID: u.ID(), Namespace: p.For(u).Client.Namespace,
		Verb: o.Verb, Flags: o.Flags, Enters: o.Enters, SSH: o.SSH,
	}
	return Work{
		IO: o.IO, Output: o.Output, Batch: Single(p.Client.Namespace, title), Recorders: recorders, Timing: o.Timing,
		Ended: o.Ended,
		One: func(ctx context.Context, m Member) v1.Result {
			p.Jobs = m.Jobs
			ctx, cancel := InTime(ctx, p, u, o.Timed)
			defer cancel()
			return ProvisionResult(p.Update(ctx, plan, m.Stream))
		},
	}.Run(ctx)
}
