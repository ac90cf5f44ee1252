package status

import (
	"context"
	"slices"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/commands/cmdutil"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/provision/inventory"
	"github.com/berthdev/berth/internal/provision/inventory/fleet"
	"github.com/berthdev/berth/internal/provision/inventory/recorded"
	"github.com/berthdev/berth/internal/terminal"
	"github.com/berthdev/berth/internal/terminal/printer"
	"github.com/berthdev/berth/internal/terminal/result"
	"github.com/berthdev/berth/internal/terminal/watching"
)

// Run shows a workspace, or a list.
func Run(ctx context.Context, o *Options) error {
	if o.History {
		return o.history(ctx)
	}
	var arg inventory.Argument
	if o.Workspace != "" {
		var err error
		if arg, err = inventory.ParseArgument(o.Workspace); err != nil {
			return err
		}
	}
	reader, err := cmdutil.Await(ctx, o.Inventory)
	if err != nil {
		return err
	}
	query := o.query(reader.Client.Namespace)
	switch {
	case o.Workspace != "":
		return o.one(ctx, reader, arg)
	case o.Watch:
		return o.watch(ctx, reader, query, nil)
	}
	read := fleet.List
	if !o.needsStages() {
		read = fleet.Names
	}
	list, err := o.list(ctx, reader, query, read)
	if err != nil {
		return err
	}
	fleet.Sort(list.Items, o.SortBy)
	if len(list.Items) == 0 {
		cmdutil.WarnOfNamespace(ctx, o.IO, reader.Client, query.Namespace)
	}
	return printer.Print(o.IO, o.Output, result.Workspaces{WorkspaceList: *list, Table: o.table()})
}

func (o *Options) table() result.Table {
	return result.Table{Namespaces: o.AllNamespaces, NoHeaders: o.NoHeaders}
}

// one shows a workspace in full.
func (o *Options) one(ctx context.Context, reader inventory.Reader, arg inventory.Argument) error {
	inspect := reader.Inspect
	if o.Events {
		inspect = reader.InspectWithEvents
	}
	w, err := o.inspect(ctx, reader, arg, inspect)
	if err != nil {
		return err
	}
	if !o.Watch {
		return printer.Print(o.IO, o.Output, result.Workspace{Workspace: *w})
	}
	return o.watch(ctx, reader, fleet.Query{Namespace: w.Namespace, ID: w.ID, Events: o.Events}, w)
}

// watch keeps what is shown up to date until Ctrl-C.
func (o *Options) watch(ctx context.Context, reader inventory.Reader, query fleet.Query, known *v1.Workspace) error {
	place, done, err := o.States(ctx)
	if err != nil {
		return err
	}
	defer done()
	limits, err := o.Limits()
	if err != nil {
		return err
	}
	display := watching.New(o.IO, o.Output, watching.View{
		Table: o.table(), One: known != nil,
		Sort: func(items []v1.Workspace) { fleet.Sort(items, o.SortBy) },
		Keep: func(w v1.Workspace) bool { return len(query.Stages) == 0 || slices.Contains(query.Stages, w.Stage) },
	})
	o.IO.AtExit(display.Close)
	defer display.Close()
	err = fleet.Watch(ctx, reader, query, &sorted{
		Display: display, order: o.SortBy, known: known,
		podless: recorded.Podless{Reader: reader, Place: place, Limits: limits, Query: query}, ctx: ctx, io: o.IO,
	})
	display.Close()
	if err != nil && ctx.Err() == nil && o.Output.IsJSON() {
		return o.printLine(err)
	}
	return cmdutil.FollowEnded(ctx, err)
}

// printLine prints an error as the last of many lines: what is watched as JSON is
// a document per line.
func (o *Options) printLine(err error) error {
	document := result.Error{Error: *result.NewError(err)}
	if err := printer.PrintNext(o.IO, o.Output, document); err != nil {
		return err
	}
	return cmdutil.ExitError(document.Exit())
}

// sorted sorts what there is at first. What is known of a workspace without a pod
// is shown where nothing else is, and what has been stopped, or has lost its pod, as that.
type sorted struct {
	watching.Display
	order   fleet.Order
	known   *v1.Workspace
	podless recorded.Podless
	ctx     context.Context //nolint:containedctx // of the watch that calls it
	io      terminal.Streams
	begun   bool
}

// Changed passes on what changed.
func (s *sorted) Changed(ws []v1.Workspace) {
	switch {
	case s.begun:
		ws = s.podless.InsteadOfGone(s.ctx, ws)
	case s.known == nil:
		ws = s.withPodless(ws)
	case len(ws) == 0:
		ws = []v1.Workspace{*s.known}
	}
	if !s.begun {
		fleet.Sort(ws, s.order)
	}
	s.begun = true
	s.Display.Changed(ws)
}

// withPodless adds those without pods to what there is at first.
func (s *sorted) withPodless(ws []v1.Workspace) []v1.Workspace {
	all, missing := s.podless.AddToSome(s.ctx, ws)
	warnMissing(s.io, missing)
	return all
}

// history prints the jobs of a workspace with everything in them.
func (o *Options) history(ctx context.Context) error {
	jobs, err := o.Jobs(ctx)
	if err != nil {
		return err
	}
	defer jobs.Close()
	list, _, err := jobs.ReadAll(ctx, o.IO, o.Workspace)
	if err != nil {
		return err
	}
	if list.States, err = o.changes(ctx); err != nil {
		printer.PrintWarning(o.IO, "how its states have changed is not known: "+err.Error())
	}
	if len(list.Items)+len(list.States) == 0 {
		return fault.New(fault.NotFound, "no job records of %s found", o.Workspace).
			WithHint("records are kept for 48 hours unless configured otherwise; `berth jobs` lists them")
	}
	return printer.Print(o.IO, o.Output, result.Jobs{JobList: *list, Full: true})
}
