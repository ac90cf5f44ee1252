package batch

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/commands/cmdutil"
	"github.com/berthdev/berth/internal/english"
	"github.com/berthdev/berth/internal/event"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/provision"
	"github.com/berthdev/berth/internal/terminal"
	"github.com/berthdev/berth/internal/terminal/printer"
	"github.com/berthdev/berth/internal/terminal/result"
)

// Options are what the command line says of a command that changes the state of workspaces.
type Options struct {
	IO          terminal.Streams
	Provisioner func() (*provision.Provisioner, error)
	Recorders   func(context.Context) (*cmdutil.Recorders, error)
	// Flags say which cluster is meant, for commands that are proposed.
	Flags []string

	Selection
	Wait       bool // for another command that works on it
	NoWait     bool // until it is so
	Yes        bool // without a question
	StuckAfter time.Duration
	Timeout    time.Duration
	Output     printer.Format
}

// NewCmd completes a command that has its texts; until is what it waits for.
func (o *Options) NewCmd(
	f *cmdutil.Factory, cmd *cobra.Command, until string, runF func(context.Context, *Options) error,
) *cobra.Command {
	deps, flags := f.For(cmd), cmd.Flags()
	o.IO, o.Provisioner, o.Recorders = f.IO, deps.Remover, deps.Recorders
	cmdutil.AddOutputFlag(cmd, &o.Output, "text", "json", "yaml", "jsonl", "name", "jsonpath=", "go-template=")
	flags.BoolVar(&o.NoWait, "no-wait", false, "do not wait until "+until)
	flags.BoolVar(&o.Wait, "wait", false, "if another command works on the workspace, wait for that instead of failing")
	o.AddFlags(f, cmd)
	cmdutil.AddTimeoutFlag(cmd, &o.Timeout)
	cmd.ValidArgsFunction = f.CompleteWorkspaces
	cmd.RunE = cmdutil.RunE(o, runF, func(cmd *cobra.Command, args []string) error {
		o.Args, o.ByOwner, o.Flags = args, cmd.Flags().Changed("owner"), cmdutil.ClusterFlags(cmd)
		return o.validate()
	})
	return cmd
}

// AddYesFlag adds --yes, of commands that end pods.
func (o *Options) AddYesFlag(cmd *cobra.Command) {
	cmd.Flags().BoolVarP(&o.Yes, "yes", "y", false, "do not ask for confirmation")
}

// validate finds what is wrong with the command line.
func (o *Options) validate() error {
	if err := cmdutil.CheckTimeout(o.Timeout); err != nil {
		return err
	}
	if err := cmdutil.CheckStuckAfter(o.StuckAfter, o.NoWait); err != nil {
		return err
	}
	return o.Validate()
}

// Change is what a command does to the workspaces.
type Change struct {
	Verb, Done string // "stop", "stopped"
	Starts     bool   // is a job, of which a record is kept
	Ends       bool   // ends pods, and with them the files that are in no storage
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
	if c.Ends {
		if err := o.confirm(ctx, c, all); err != nil {
			return err
		}
	}
	if !c.Starts {
		defer recorders.CleanUp(ctx)()
	}
	again := func(some Selection) string { return some.Again(c.Verb, o.Flags) }
	work := Work{
		IO: o.IO, Output: o.Output, Batch: o.Batch(p.Client.Namespace, all, c.Verb, again, o.Flags),
		Begun: begun, Requests: p.Client.Requests.Count,
		Summary: func(results []v1.Result, totals v1.Totals) v1.Result { return summary(all, results, totals) },
		One: func(ctx context.Context, m Member) v1.Result {
			own := *p
			own.Jobs = m.Jobs
			return c.one(ctx, &own, all[m.Index], m.Stream)
		},
	}
	if c.Starts {
		work.Recorders = recorders
		ssh := cmdutil.HasSSH()
		for i := range work.Batch.Members {
			work.Batch.Members[i].SSH = ssh
		}
	}
	return work.Run(ctx)
}

// find looks the workspaces up, or lists those of the owner.
func (o *Options) find(
	ctx context.Context, p *provision.Provisioner, all []Workspace, done string,
) (_ []Workspace, err error) {
	if o.ByOwner {
		if _, all, err = o.Owned(ctx, p.Reader, p.States); err != nil {
			return nil, err
		}
	}
	return o.Find(ctx, p.Client.Namespace, all, done, p.FindRecorded)
}

// confirm says which files go with the pods, and asks at a terminal.
func (o *Options) confirm(ctx context.Context, c Change, all []Workspace) error {
	losing := Losing(all)
	if len(losing) == 0 {
		return nil
	}
	printer.PrintNote(o.IO, Lost(losing, true))
	if o.Yes || !o.IO.CanAsk() {
		return nil
	}
	return Confirm(ctx, o.IO, strings.ToUpper(c.Verb[:1])+c.Verb[1:]+"?", c.Done)
}

// Losing are the workspaces that lose files with their pods; those that were not found are none.
func Losing(all []Workspace) []Workspace {
	return slices.DeleteFunc(slices.Clone(all), func(w Workspace) bool {
		return w.Target == nil || w.Err != nil || !provision.LosesFiles(w.Target)
	})
}

// Lost says what goes with the pods of workspaces without a home directory in a storage; kept is
// true if their storages stay.
func Lost(losing []Workspace, kept bool) string {
	name, has, its, it := cmp.Or(losing[0].Typed, losing[0].UserString, losing[0].ID), "has", "its", "it"
	if len(losing) > 1 {
		name, has, its, it = english.Plural(len(losing), "workspace"), "have", "their", "them"
	}
	what := "all files in " + it + " are lost"
	if kept && slices.ContainsFunc(losing, func(w Workspace) bool { return provision.KeepsFiles(w.Target) }) {
		what = "only files in " + its + " storages are kept"
	}
	return fmt.Sprintf("%s %s no home directory in a storage: %s", name, has, what)
}

// one changes one workspace.
func (c Change) one(ctx context.Context, p *provision.Provisioner, w Workspace, stream *event.Stream) v1.Result {
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
	return ProvisionResult(outcome, err)
}
