// Package status is the command `berth status`.
package status

import (
	"context"

	"github.com/spf13/cobra"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/commands/cmdutil"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/lifecycle"
	"github.com/berthdev/berth/internal/provision/inventory"
	"github.com/berthdev/berth/internal/provision/inventory/fleet"
	"github.com/berthdev/berth/internal/terminal"
	"github.com/berthdev/berth/internal/terminal/printer"
)

// Options are what the command line says.
type Options struct {
	IO        terminal.Streams
	Inventory func() (inventory.Reader, error)
	Jobs      func(context.Context) (cmdutil.Jobs, error)
	States    func(context.Context) (lifecycle.Place, func(), error)
	Limits    func() (lifecycle.Limits, error)

	Workspace string // empty for a list
	Events    bool
	History   bool
	Watch     bool
	Output    printer.Format

	// Of a list.
	AllNamespaces      bool
	Kept               bool
	Owners, Blueprints []string
	Stages             []v1.Stage
	Selector           string
	SortBy             fleet.Order
	NoHeaders          bool
}

// NewCmd makes the command.
func NewCmd(f *cmdutil.Factory, runF func(context.Context, *Options) error) *cobra.Command {
	o := &Options{IO: f.IO}
	cmd := &cobra.Command{
		Use:        "status [USERSTR|ID]",
		SuggestFor: []string{"ls", "list", "get", "ps", "info"},
		Short:      "Show a workspace, or list all",
		Long: `Show one workspace in full: its stage, its containers, what went wrong, and which
command to run next. Without an argument, list the workspaces of the namespace, including
those that are injected into a workload, those that are stopped, and those whose pod is
gone, with the command that brings it back; with --all also those that are deleted and
whose storage is kept. AGE is since a workspace was created; where that is not recorded,
since its pod was. With --sort-by age the youngest come first, with --sort-by restarts
those with the most.

With --history, show where the time of its provisionings went, at a terminal as bars on
one time axis: a heavy bar is a stage, a light one a step, a container or an init script,
a dotted one has not ended. "berth jobs stats" counts all provisionings.

With --watch, keep the answer up to date until Ctrl-C: on a terminal it is redrawn in
place, elsewhere each change is another line. As JSON, each line is one workspace: first
all that exist, then each that changes; a deleted one has "gone": true, and one that has
only lost its pod "startable": true as well.
` + "`berth help output`" + ` has the details.`,
		Example: `  berth status
  berth status alice~dev --events
  berth status --all-namespaces --stage Failed,Pulling --sort-by age
  berth status --owner alice --watch
  berth status --all --owner alice
  berth status -A -o jsonpath='{range .items[*]}{.id}{"\n"}{end}'`,
		Args:              cmdutil.MaxOneArg("workspace"),
		ValidArgsFunction: f.CompleteWorkspace,
		RunE: cmdutil.RunE(o, runF, func(cmd *cobra.Command, args []string) error {
			o.Workspace, o.IO.Flags = cmdutil.Optional(args), cmdutil.ClusterFlags(cmd)
			return o.validate(cmd.Flags().Changed)
		}),
	}
	deps := f.For(cmd)
	o.Inventory, o.Jobs, o.States, o.Limits = deps.Inventory, deps.OpenJobs, deps.States, deps.Limits
	flags := cmd.Flags()
	cmdutil.AddOutputFlag(cmd, &o.Output, "text", "wide", "json", "yaml", "jsonl", "name", "jsonpath=", "go-template=")
	flags.BoolVarP(&o.AllNamespaces, "all-namespaces", "A", false, "list the workspaces of all namespaces")
	flags.BoolVar(&o.Kept, "all", false, "also list workspaces that are deleted and whose storage is kept")
	flags.StringSliceVar(&o.Owners, "owner", nil, "list only workspaces of these users")
	flags.StringSliceVar(&o.Blueprints, "blueprint", nil, "list only workspaces from these blueprints")
	cmdutil.EnumSliceVar(cmd, &o.Stages, "stage", "list only workspaces in these stages", fleet.Stages()...)
	flags.StringVarP(&o.Selector, "selector", "l", "", "list only workspaces whose pods match this label selector")
	cmdutil.EnumVar(cmd, &o.SortBy, "sort-by", "sort the list by this column, instead of namespace and name",
		fleet.Orders()...)
	flags.BoolVar(&o.NoHeaders, "no-headers", false, "print no column titles")
	flags.BoolVarP(&o.Watch, "watch", "w", false, "keep printing changes until Ctrl-C")
	flags.BoolVar(&o.Events, "events", false, "also show the Kubernetes events of the workspace")
	flags.BoolVar(&o.History, "history", false,
		"show what happened when the workspace was provisioned, even if it no longer exists, and how its states "+
			"have changed since")
	f.CompleteFrom(cmd, "owner", func(w v1.Workspace) string { return w.Owner })
	f.CompleteFrom(cmd, "blueprint", func(w v1.Workspace) string { return w.Blueprint })
	cmdutil.NoFlagValues(cmd, "selector")
	return cmd
}

// validate finds flags that do not go together.
func (o *Options) validate(given func(flag string) bool) error {
	if o.Workspace == "" {
		for _, name := range []string{"events", "history"} {
			if given(name) {
				return fault.New(fault.InvalidArgument, "--%s requires a workspace", name)
			}
		}
		return nil
	}
	for _, name := range []string{"owner", "blueprint", "stage", "selector", "sort-by", "all-namespaces", "all"} {
		if given(name) {
			return fault.New(fault.InvalidArgument, "--%s and the workspace %q are mutually exclusive", name,
				o.Workspace)
		}
	}
	return nil
}

// query is what the list has.
func (o *Options) query(namespace string) fleet.Query {
	if o.AllNamespaces {
		namespace = "" // metav1.NamespaceAll
	}
	return fleet.Query{
		Namespace: namespace, Owners: o.Owners, Blueprints: o.Blueprints, Stages: o.Stages,
		Labels: o.Selector, Kept: o.Kept,
	}
}

// needsStages says whether the list takes more than the metadata of pods.
func (o *Options) needsStages() bool {
	return len(o.Stages) > 0 || o.SortBy == fleet.ByStage || o.SortBy == fleet.ByRestarts || !o.Output.IsName()
}
