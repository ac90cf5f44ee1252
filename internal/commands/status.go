package commands

import (
	"context"
	"slices"

	"github.com/spf13/cobra"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/provision"
	"github.com/berthdev/berth/internal/provision/inventory"
	"github.com/berthdev/berth/internal/terminal/printer"
	"github.com/berthdev/berth/internal/terminal/watching"
)

type statusOptions struct {
	output        outputFlag
	list          listFlags
	allNamespaces bool
	history       historyFlag
	watch         bool
	events        bool
}

func newStatus(a *app) *cobra.Command {
	o := &statusOptions{}
	cmd := &cobra.Command{
		Use:   "status [USERSTR|ID]",
		Short: "Show a workspace, or list all",
		Long: `Show one workspace in full: its stage, its containers, what went wrong and what
to do about it. Without an argument, list the workspaces of the namespace: those
of their own, and those that are injected into a workload.

With --watch the answer is kept up to date until Ctrl-C: on a terminal it is
redrawn in place, elsewhere each change is another line. As JSON, each line is
one workspace: first all that there are, then each that changes; one that is
gone says "gone": true. ` + "`berth help output`" + ` has more about what is printed.`,
		Example: `  berth status
  berth status alice~dev --events
  berth status --all-namespaces --stage Failed,Pulling --sort-by age
  berth status --owner alice --watch
  berth status -A -o jsonpath='{range .items[*]}{.id}{"\n"}{end}'`,
		Args:              atMostOne("workspace"),
		ValidArgsFunction: a.completeWorkspaces,
		RunE:              func(cmd *cobra.Command, args []string) error { return o.run(cmd.Context(), a, cmd, args) },
	}
	o.output.register(cmd, "text", "wide", "json", "yaml", "jsonl", "name", "jsonpath=", "go-template=")
	o.list.register(cmd, a)
	flags := cmd.Flags()
	flags.BoolVarP(&o.allNamespaces, "all-namespaces", "A", false, "list the workspaces of all namespaces")
	flags.BoolVarP(&o.watch, "watch", "w", false, "go on and show what changes, until Ctrl-C")
	flags.BoolVar(&o.events, "events", false, "also what Kubernetes recorded about the workspace")
	o.history.register(cmd)
	return cmd
}

func (o *statusOptions) run(ctx context.Context, a *app, cmd *cobra.Command, args []string) error {
	if err := o.check(cmd, args); err != nil {
		return usage(cmd, err)
	}
	p, err := a.provisioner(cmd)
	if err != nil {
		return err
	}
	if o.history.on {
		return o.history.run(ctx, a, cmd, p, args, o.output)
	}
	a.streams.Flags = givenFlags(cmd)
	query := o.list.query(p.Client.Namespace)
	if o.allNamespaces {
		query.Namespace = metav1.NamespaceAll
	}
	switch {
	case len(args) == 1:
		return o.one(ctx, a, p, args[0])
	case o.watch:
		return o.follow(ctx, a, p, query, nil)
	}
	read := p.List
	if o.output.text == "name" && !o.list.needsStages() {
		read = p.Names
	}
	list, err := read(ctx, query)
	if err != nil {
		return err
	}
	inventory.Sort(list.Items, o.list.order)
	return printer.PrintList(a.streams, o.output.format, list, o.look())
}

// check finds flags that do not fit.
func (o *statusOptions) check(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		if o.events {
			return fault.New(fault.InvalidArgument, "--events is about one workspace, and none is named")
		}
		return nil
	}
	for _, name := range append(o.list.names(), "all-namespaces") {
		if cmd.Flags().Changed(name) {
			return fault.New(fault.InvalidArgument, "--%s is for the list, but %q is one workspace", name, args[0])
		}
	}
	return nil
}

func (o *statusOptions) look() printer.List {
	return printer.List{Namespaces: o.allNamespaces, NoHeaders: o.list.noHeaders}
}

// one shows a workspace in full.
func (o *statusOptions) one(ctx context.Context, a *app, p *provision.Provisioner, arg string) error {
	inspect := p.Inspect
	if o.events {
		inspect = p.InspectWithEvents
	}
	w, err := inspect(ctx, arg)
	if err != nil {
		return err
	}
	if !o.watch {
		return printer.Print(a.streams, o.output.format, w)
	}
	return o.follow(ctx, a, p, inventory.Query{Namespace: w.Namespace, ID: w.ID, Events: o.events}, w)
}

// follow keeps what is shown up to date. Who follows ends it by Ctrl-C: that is
// no error to speak of.
func (o *statusOptions) follow(ctx context.Context, a *app, p *provision.Provisioner, query inventory.Query, known *v1.Workspace) error {
	display := watching.New(a.streams, o.output.format, watching.View{
		List: o.look(), One: known != nil,
		Sort: func(items []v1.Workspace) { inventory.Sort(items, o.list.order) },
		Keep: func(w v1.Workspace) bool { return len(query.Stages) == 0 || slices.Contains(query.Stages, w.Stage) },
	})
	a.onLeave(display.Close)
	defer display.Close()
	err := p.Attend(ctx, query, &sorted{Display: display, order: o.list.order, known: known})
	display.Close()
	if err != nil && ctx.Err() != nil {
		return statusError(fault.CodeOf(context.Cause(ctx)).Exit())
	}
	if o.output.text == "json" && err != nil {
		return printedLine(a, err)
	}
	return err
}

// printedLine prints an error as the last of many lines: --output json means a
// document a line where something is watched.
func printedLine(a *app, err error) error {
	lines, formatErr := printer.ParseFormat("jsonl")
	if formatErr != nil {
		return formatErr
	}
	if printErr := printer.PrintError(a.streams, lines, printer.ErrorDocument(err)); printErr != nil {
		return printErr
	}
	return statusError(fault.CodeOf(err).Exit())
}

// sorted brings what there is at first into order. What is known of a workspace
// without a pod is shown where nothing else is.
type sorted struct {
	watching.Display
	order inventory.Order
	known *v1.Workspace
	begun bool
}

// Changed passes on what changed.
func (s *sorted) Changed(ws []v1.Workspace) {
	if !s.begun && len(ws) == 0 && s.known != nil {
		ws = []v1.Workspace{*s.known}
	}
	if !s.begun {
		inventory.Sort(ws, s.order)
	}
	s.begun = true
	s.Display.Changed(ws)
}
