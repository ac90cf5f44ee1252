package volume

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/commands/batch"
	"github.com/berthdev/berth/internal/commands/cmdutil"
	"github.com/berthdev/berth/internal/english"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/terminal/printer"
	"github.com/berthdev/berth/internal/terminal/result"
	"github.com/berthdev/berth/internal/volume/nodes"
)

// PurgeOptions are what the command line says.
type PurgeOptions struct {
	Drivers

	IDs   []string
	AllOf string // a user string, an ID, or a user, instead of IDs
	Yes   bool
}

// NewPurge makes `berth volume purge`.
func NewPurge(f *cmdutil.Factory, runF func(context.Context, *PurgeOptions) error) *cobra.Command {
	o := &PurgeOptions{}
	cmd := &cobra.Command{
		Use:        "purge ID...",
		SuggestFor: []string{"rm", "delete", "remove"},
		Short:      "Remove scratch volumes whose pods are gone, before their time",
		Long: `Remove scratch volumes whose pods are gone, before their time. The beginning of an ID is
enough if it is that of one volume. With --all-of, all volumes of a workspace are removed,
or of all workspaces of a user: those that say so, which is what the author of the pod has
chosen. A volume that a pod uses is never removed.

At a terminal, the volumes are listed and you are asked to confirm; --yes skips the
question and is required without a terminal. All IDs are looked up before anything is
removed. If one cannot be removed, the others are, and the exit status is 3, as it is
with --all-of if a node does not answer.`,
		Example: `  berth volume purge 1f0c9a2b4d
  berth volume purge --all-of alice~dev --yes`,
		ValidArgsFunction: func(cmd *cobra.Command, args []string, _ string) ([]cobra.Completion,
			cobra.ShellCompDirective,
		) {
			return f.CompleteVolumes(cmd, o.Namespace, volumeNames(args))
		},
		RunE: cmdutil.RunE(o, runF, func(_ *cobra.Command, args []string) error {
			o.IDs = args
			return o.check()
		}),
	}
	drivers(f, cmd, &o.Drivers, "text", "json", "yaml", "name", "jsonpath=", "go-template=")
	cmd.Flags().StringVar(&o.AllOf, "all-of", "", "remove all volumes of this workspace (user string or ID) or user")
	cmd.Flags().BoolVarP(&o.Yes, "yes", "y", false, "do not ask for confirmation")
	f.CompleteFrom(cmd, "all-of", func(w v1.Workspace) string { return w.UserString })
	return cmd
}

// check finds what is wrong with the command line.
func (o *PurgeOptions) check() error {
	switch {
	case len(o.IDs) == 0 && o.AllOf == "":
		return fault.New(fault.InvalidArgument, "requires the ID of a volume, or --all-of")
	case len(o.IDs) > 0 && o.AllOf != "":
		return fault.New(fault.InvalidArgument, "IDs and --all-of are mutually exclusive")
	case !o.Yes && !o.IO.CanAsk():
		return fault.New(fault.InvalidArgument, "--yes is required to remove volumes without a terminal").
			WithHint("pass --yes to remove them without confirmation; berth volume list shows them")
	}
	if err := checkIDs(o.IDs); err != nil {
		return err
	}
	return o.validate()
}

// Purge removes volumes.
func Purge(ctx context.Context, o *PurgeOptions) error {
	ctx, cancel := cmdutil.WithTimeout(ctx, o.Timeout)
	defer cancel()
	answers, err := o.ask(ctx)
	if err != nil {
		return cmdutil.Because(ctx, err)
	}
	volumes, err := o.chosen(answers)
	if err != nil {
		return err
	}
	if len(volumes) > 0 && !o.Yes {
		if err := o.confirm(ctx, volumes); err != nil {
			return err
		}
	}
	d := v1.VolumePurge{Items: make([]v1.PurgedVolume, len(volumes)), Unasked: unasked(answers)}
	batch.ForEach(len(volumes), atOnce, func(i int) { d.Items[i] = purge(ctx, volumes[i]) })
	if err := printer.Print(o.IO, o.Output, result.Purge{VolumePurge: d}); err != nil {
		return err
	}
	return o.outcome(ctx, d)
}

// outcome is how the command ends: with the reason if it was ended, and with a failure if
// anything was not removed, or may not have been.
func (o *PurgeOptions) outcome(ctx context.Context, d v1.VolumePurge) error {
	for _, v := range d.Items {
		if v.Error != nil && ctx.Err() != nil {
			return context.Cause(ctx)
		}
	}
	for _, v := range d.Items {
		if v.Error != nil {
			return cmdutil.ExitError(fault.Failed.Exit())
		}
	}
	if o.AllOf != "" && len(d.Unasked) > 0 { // which are warned about
		return cmdutil.ExitError(fault.Failed.Exit())
	}
	return nil
}

// atOnce is how many volumes are removed at once; purgeTime is how long one may take.
const (
	atOnce    = 8
	purgeTime = 10 * time.Minute
)

func purge(ctx context.Context, k kept) v1.PurgedVolume {
	v := v1.PurgedVolume{
		ID: k.ID, Node: k.on.Node.Name, Workspace: k.Workspace, UserString: k.UserString,
		Storage: k.Storage,
	}
	ctx, cancel := context.WithTimeoutCause(ctx, purgeTime,
		fault.New(fault.Unavailable, "node %s does not answer within %s", v.Node, purgeTime))
	defer cancel()
	if err := k.on.Node.Purge(ctx, k.ID); err != nil {
		v.Error = result.NewError(err)
	}
	return v
}

// chosen are the volumes that are meant. All that is wrong with the IDs is reported
// together.
func (o *PurgeOptions) chosen(answers []nodes.Answer) (all []kept, err error) {
	if o.AllOf != "" {
		for _, a := range answers {
			for _, v := range a.Picture.Volumes {
				if isOf(v, o.AllOf) {
					all = append(all, kept{v, a})
				}
			}
		}
		return all, nil
	}
	var problems []error
	met := map[[2]string]bool{}
	for _, id := range o.IDs {
		k, err := find(answers, id)
		name := [2]string{k.on.Node.Name, k.ID}
		switch {
		case err != nil:
			problems = append(problems, err)
		case !met[name]:
			met[name] = true
			all = append(all, k)
		}
	}
	switch len(problems) {
	case 0:
		return all, nil
	case 1:
		return nil, problems[0]
	}
	several := fault.New(fault.CodeOf(problems[0]), "%d volumes cannot be removed; nothing was removed", len(problems)).
		WithHint("berth volume list lists those that are kept")
	for _, p := range problems {
		several.Problems = append(several.Problems, p.Error())
	}
	return nil, several
}

// confirm lists the volumes and asks.
func (o *PurgeOptions) confirm(ctx context.Context, all []kept) error {
	onErr := o.IO
	onErr.Out = o.IO.Err // a question is not a result
	list := v1.VolumeList{}
	for _, k := range all {
		list.Items = append(list.Items, documentOf(k.on.Picture, k.Volume))
		list.Nodes = append(list.Nodes, v1.VolumeNode{Name: k.on.Node.Name, Factor: k.on.Picture.Factor})
	}
	if err := printer.Print(onErr, printer.Format{}, result.Volumes{VolumeList: list}); err != nil {
		return err
	}
	return batch.Confirm(ctx, o.IO, "Remove "+english.Plural(len(all), "volume")+"?", "removed")
}
