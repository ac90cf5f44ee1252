package bundle

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/bundle/instance"
	"github.com/berthdev/berth/internal/bundle/resource"
	"github.com/berthdev/berth/internal/commands/batch"
	"github.com/berthdev/berth/internal/commands/cmdutil"
	"github.com/berthdev/berth/internal/event"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/terminal/printer"
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

PersistentVolumeClaims are removed with their data, unless --keep-storage keeps them: a
later installation of the same bundle uses them again. With --delete-crds, the
definitions are removed, too, and every object of their kinds with them. What holds data
is listed, and you are asked to confirm; --yes skips the question. Without a terminal,
--yes or --keep-storage is required to remove what holds data.`,
		Example: `  berth bundle uninstall shop
  berth bundle uninstall shop --keep-storage
  berth bundle uninstall shop --delete-crds --yes`,
		Args:              cmdutil.OneArg("bundle"),
		ValidArgsFunction: completeInstance(f),
	}
	o = newCluster(f, cmd, "text", "json", "yaml", "jsonl", "name", "jsonpath=", "go-template=")
	cmd.Flags().BoolVar(
		&o.DeleteDefinitions, "delete-crds", false, "remove the definitions of kinds, and every object of these kinds",
	)
	cmd.Flags().BoolVar(&o.KeepStorage, "keep-storage", false, "keep the PersistentVolumeClaims, and so their data")
	cmd.Flags().BoolVarP(&o.Yes, "yes", "y", false, "do not ask for confirmation")
	cmd.Flags().BoolVar(&o.IgnoreNotFound, "ignore-not-found", false, "succeed if there is no such bundle")
	cmd.Flags().BoolVar(&o.NoWait, "no-wait", false, "do not wait until the objects are gone")
	o.addServiceAccountFlag(cmd)
	cmdutil.AddTimeoutFlag(cmd, &o.Timeout)
	cmd.RunE = cmdutil.RunE(o, runF, func(cmd *cobra.Command, args []string) error {
		o.Name, o.Flags = args[0], clusterFlags(cmd, o.System)
		if err := resource.CheckName(o.Name); err != nil {
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
	title := wording.Title{ID: o.Name, Verb: "bundle uninstall", Flags: o.Flags}
	one := func(ctx context.Context, m batch.Member) v1.Result {
		removal, err := o.uninstall(ctx, r, event.NewSteps(m.Stream, time.Now))
		if err != nil {
			return v1.Result{Error: result.NewError(cmdutil.Because(ctx, err))}
		}
		removal.Seconds = time.Since(begun).Seconds()
		return v1.Result{Removal: removal}
	}
	return batch.Work{IO: o.IO, Output: o.Output, Batch: batch.Single("", title), One: one}.Run(ctx)
}

// uninstall removes it. One that is not there is as wanted, if --ignore-not-found says so.
func (o *ClusterOptions) uninstall(
	ctx context.Context, r instance.Reconciler, steps *event.Steps,
) (*v1.BundleRemoval, error) {
	removing := instance.Removing{
		Definitions: o.DeleteDefinitions, KeepStorage: o.KeepStorage, NoWait: o.NoWait,
		Confirm: func(loss instance.Loss) error { return o.confirm(ctx, loss) },
	}
	removal, err := r.Uninstall(ctx, o.Name, removing, steps)
	if o.IgnoreNotFound && fault.CodeOf(err) == fault.NotFound {
		removal, err = &v1.BundleRemoval{Name: o.Name, NotFound: true}, nil
	}
	return removal, err
}

// confirm lists the data that would go, and asks if there is somebody to ask.
func (o *ClusterOptions) confirm(ctx context.Context, loss instance.Loss) error {
	what := describeLoss(loss)
	if o.Yes {
		printer.PrintNote(o.IO, what)
		return nil
	}
	if !o.IO.CanAsk() {
		hint := "pass --yes to remove it without confirmation"
		if len(loss.Claims) > 0 {
			hint += ", or --keep-storage to keep the claims"
		}
		if len(loss.Objects) > 0 {
			hint += ", and leave out --delete-crds to keep the definitions"
		}
		err := fault.New(fault.InvalidArgument, "--yes is required to remove data without a terminal: %s", what)
		return err.WithHint("%s", hint)
	}
	return batch.Confirm(ctx, o.IO, what+". Remove it?", "removed")
}

// describeLoss lists the data that goes.
func describeLoss(loss instance.Loss) string {
	var claims, objects []string
	for _, claim := range loss.Claims {
		text := "pvc/" + claim.GetName() + " in namespace " + claim.GetNamespace()
		if size, _, _ := unstructured.NestedString(claim.Object, "status", "capacity", "storage"); size != "" {
			text += " (" + fault.Line(size) + ")"
		}
		claims = append(claims, text)
	}
	for _, kind := range slices.Sorted(maps.Keys(loss.Objects)) {
		objects = append(objects, fmt.Sprintf("%d of %s", loss.Objects[kind], kind))
	}
	var parts []string
	if len(claims) > 0 {
		parts = append(parts, "this storage goes with its data: "+strings.Join(claims, ", "))
	}
	if len(objects) > 0 {
		parts = append(parts, "these objects go with their definitions: "+strings.Join(objects, ", "))
	}
	return strings.Join(parts, "; ")
}
