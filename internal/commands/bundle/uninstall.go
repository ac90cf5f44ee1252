package bundle

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/bundle/instance"
	"github.com/berthdev/berth/internal/commands/cmdutil"
	"github.com/berthdev/berth/internal/event"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/terminal"
	"github.com/berthdev/berth/internal/terminal/printer"
	"github.com/berthdev/berth/internal/terminal/progress"
	"github.com/berthdev/berth/internal/terminal/result"
	"github.com/berthdev/berth/internal/terminal/wording"
)

// NewUninstall makes `berth bundle uninstall`.
func NewUninstall(f *cmdutil.Factory, runF func(context.Context, *ClusterOptions) error) *cobra.Command {
	var o *ClusterOptions
	cmd := &cobra.Command{
		Use:        "uninstall NAME",
		SuggestFor: []string{"rm", "remove", "delete"},
		Short:      "Remove what a bundle has installed",
		Long: `Remove what a bundle has installed, wait until it is gone, and remove its release and
the instance. Objects that are marked as those of others are left and named, and so are
definitions of kinds, what is marked helm.sh/resource-policy: keep, and a namespace
that holds something else.

The hooks of a chart run with your rights, unless its instance names a ServiceAccount or
--service-account does. Of a bundle that others have chosen, name the one that it was
installed as.

With --delete-crds, the definitions are removed, too, and every object of their kinds
with them: how many these are is shown, and you are asked to confirm; --yes skips the
question and is required without a terminal.`,
		Example: `  berth bundle uninstall shop
  berth bundle uninstall shop --delete-crds --yes`,
		Args:              cmdutil.OneArg("bundle"),
		ValidArgsFunction: completeInstance(f),
	}
	o = newCluster(f, cmd, "text", "json", "yaml", "jsonl", "name", "jsonpath=", "go-template=")
	cmd.Flags().BoolVar(&o.DeleteDefinitions, "delete-crds", false, "remove the definitions of kinds, and every object of these kinds")
	cmd.Flags().BoolVarP(&o.Yes, "yes", "y", false, "do not ask for confirmation")
	cmd.Flags().BoolVar(&o.IgnoreNotFound, "ignore-not-found", false, "succeed if there is no such bundle")
	cmd.Flags().BoolVar(&o.NoWait, "no-wait", false, "do not wait until the objects are gone")
	o.addServiceAccountFlag(cmd)
	cmdutil.AddTimeoutFlag(cmd, &o.Timeout)
	cmd.RunE = cmdutil.RunE(o, runF, func(cmd *cobra.Command, args []string) error {
		o.Name, o.Flags = args[0], cmdutil.ClusterFlags(cmd)
		if err := instance.CheckName(o.Name); err != nil {
			return err
		}
		return cmdutil.CheckTimeout(o.Timeout)
	})
	return cmd
}

// Uninstall removes an instance.
func Uninstall(ctx context.Context, o *ClusterOptions) error {
	ctx, cancel := cmdutil.WithTimeout(ctx, o.Timeout)
	defer cancel()
	r, err := o.open(ctx)
	if err != nil {
		return err
	}
	begun := time.Now()
	batch := wording.Batch{Single: true, Flags: o.Flags, Members: []wording.Title{{ID: o.Name, Verb: "bundle uninstall", Flags: o.Flags}}}
	view := progress.New(o.IO, o.Output, batch)
	all := cmdutil.NewBatch(batch, view)
	stream := all.Stream(0)
	removing := instance.Removing{Definitions: o.DeleteDefinitions, NoWait: o.NoWait, Confirm: func(counts map[string]int64) error { return o.confirm(ctx, counts) }}
	removal, err := r.Uninstall(ctx, o.Name, removing, event.NewSteps(stream, time.Now))
	if o.IgnoreNotFound && fault.CodeOf(err) == fault.NotFound {
		removal, err = &v1.BundleRemoval{Name: o.Name, NotFound: true}, nil
	}
	res := v1.Result{Removal: removal}
	if err != nil {
		res = v1.Result{Error: result.NewError(cmdutil.Because(ctx, err))}
	} else {
		removal.Seconds = time.Since(begun).Seconds()
	}
	all.Finish(0, stream, res)
	return cmdutil.Report(o.IO, o.Output, result.Of(all.Results[0], batch), view)
}

// confirm shows what would go with the definitions, and asks if there is somebody to ask.
func (o *ClusterOptions) confirm(ctx context.Context, counts map[string]int64) error {
	var parts []string
	for _, kind := range slices.Sorted(maps.Keys(counts)) {
		parts = append(parts, fmt.Sprintf("%d of %s", counts[kind], kind))
	}
	what := "these objects go with their definitions: " + strings.Join(parts, ", ")
	if o.Yes {
		printer.PrintNote(o.IO, what)
		return nil
	}
	if !o.IO.CanAsk() {
		return fault.New(fault.InvalidArgument, "--yes is required to delete definitions without a terminal: %s", what).
			WithHint("pass --yes to delete them without confirmation, or leave out --delete-crds")
	}
	yes, err := terminal.Confirm(ctx, o.IO, what+". Delete them?")
	if err == nil && !yes {
		err = fault.New(fault.Interrupted, "not confirmed: nothing was removed")
	}
	return err
}
