package volume

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/commands/cmdutil"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/terminal/printer"
	"github.com/berthdev/berth/internal/terminal/result"
	"github.com/berthdev/berth/internal/userstring"
	"github.com/berthdev/berth/internal/volume"
	"github.com/berthdev/berth/internal/volume/nodes"
)

// ListOptions are what the command line says.
type ListOptions struct {
	Drivers
	Readers

	Of string // a user string, an ID, or a user; empty for all
	// ByPods asks the drivers by their pods, though they let users read.
	ByPods bool
	// ID is the volume whose directory Path is listed; empty for volumes.
	ID, Path string
}

// NewList makes `berth volume list`.
func NewList(f *cmdutil.Factory, runF func(context.Context, *ListOptions) error) *cobra.Command {
	o := &ListOptions{}
	cmd := &cobra.Command{
		Use:        "list [VOLUME[:PATH]]",
		SuggestFor: []string{"ls", "get", "status"},
		Short:      "List the scratch volumes whose pods are gone, or what is in one",
		Long: `List the scratch volumes whose pods are gone: on which node, whose they were, and when
they go. All nodes are asked side by side; one that does not answer is a warning.

With --read-url, or volumes.readURL in the configuration, the drivers themselves are asked
for the volumes that the pods of the namespace have left, which takes the ClusterRole
scratch-volume-reader there. With a VOLUME, the files are listed that are in it, or in its
directory PATH; the beginning of the ID is enough if it is that of one volume. Otherwise,
or with --driver-namespace or --node, the drivers are asked by their pods, for all
namespaces, which is for administrators.

WORKSPACE, STORAGE and user string are what the pod said that had the volume, which
the author of the pod has chosen; NAMESPACE and POD (--output wide) are certain. When a
volume goes is by the clock of its node, and as full as its disk is now: where less is
free than the headroom of the driver, volumes go sooner, the oldest first.`,
		Example: `  berth volume list
  berth volume list --of alice --output wide
  berth volume list 1f0c9a2b4d:logs
  berth volume list --node worker-3 -o jsonpath='{range .items[*]}{.id}{"\n"}{end}'`,
		Args:              cmdutil.MaxOneArg("volume"),
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: cmdutil.RunE(o, runF, func(cmd *cobra.Command, args []string) error {
			o.ByPods = cmd.Flags().Changed("driver-namespace") || o.Node != ""
			if len(args) == 0 {
				return o.validate()
			}
			if o.ByPods || o.Of != "" {
				return fault.New(fault.InvalidArgument,
					"--driver-namespace, --node and --of are about the list of volumes, not about what is in one")
			}
			var err error
			o.ID, o.Path, err = volumeAndPath(args[0])
			return errors.Join(err, o.validate())
		}),
	}
	readers(f, cmd, &o.Readers)
	drivers(f, cmd, &o.Drivers, "text", "wide", "json", "yaml", "jsonl", "name", "jsonpath=", "go-template=")
	cmd.Flags().StringVar(&o.Of, "of", "", "list only the volumes of this workspace (user string or ID) or user")
	f.CompleteFrom(cmd, "of", func(w v1.Workspace) string { return w.UserString })
	return cmd
}

// List prints the volumes.
func List(ctx context.Context, o *ListOptions) error {
	ctx, cancel := cmdutil.WithTimeout(ctx, o.Timeout)
	defer cancel()
	if o.ID != "" {
		return cmdutil.Because(ctx, o.files(ctx))
	}
	answers, err := o.whole(ctx)
	if err != nil {
		return cmdutil.Because(ctx, err)
	}
	return printer.Print(o.IO, o.Output, result.Volumes{VolumeList: listOf(answers, o.Of)})
}

// whole asks who is to be asked for volumes: the drivers themselves, or by their pods.
func (o *ListOptions) whole(ctx context.Context) ([]nodes.Answer, error) {
	if o.ByPods {
		return o.ask(ctx)
	}
	c, namespace, found, err := o.Find(ctx, o.URL, o.CA)
	if err != nil {
		return nil, err
	}
	if !found {
		return o.ask(ctx)
	}
	all, err := pictures(ctx, c, namespace, o.Of)
	if err != nil {
		return nil, err
	}
	return o.heard(answers(all))
}

// files prints what is in a directory of a volume.
func (o *ListOptions) files(ctx context.Context) error {
	c, namespace, err := o.required(ctx)
	if err != nil {
		return err
	}
	v, err := o.locate(ctx, c, namespace, o.ID)
	if err != nil {
		return err
	}
	listing, err := v.List(ctx, o.Path)
	if err != nil {
		return err
	}
	d := v1.VolumeFiles{ID: v.ID, Path: o.Path, Items: []v1.VolumeFile{}, More: listing.More}
	for _, e := range listing.Entries {
		item := v1.VolumeFile{
			Name: e.Name, Type: string(e.Kind), Mode: fmt.Sprintf("%04o", e.Mode), ModifiedAt: e.Modified.UTC(),
			Target: e.Target,
		}
		if e.Kind == volume.KindFile {
			item.Bytes = &e.Size
		}
		d.Items = append(d.Items, item)
	}
	return printer.Print(o.IO, o.Output, result.VolumeFiles{VolumeFiles: d})
}

// listOf is what the nodes have answered, of a workspace or a user if that is not empty.
func listOf(answers []nodes.Answer, of string) (list v1.VolumeList) {
	for _, a := range answers {
		node := v1.VolumeNode{Name: a.Node.Name, Pod: a.Node.Pod}
		if a.Err != nil {
			failed := result.NewError(a.Err)
			node.Error = failed
		} else {
			p := a.Picture
			node.Used, node.Kept, node.Factor = p.Used, len(p.Volumes), p.Factor
			node.FreeBytes, node.TotalBytes, node.Headroom = p.Free, p.Total, p.Headroom
		}
		list.Nodes = append(list.Nodes, node)
		for _, v := range a.Picture.Volumes {
			if isOf(v, of) {
				list.Items = append(list.Items, documentOf(a.Picture, v))
			}
		}
	}
	return list
}

func documentOf(p volume.Picture, v volume.Volume) v1.Volume {
	d := v1.Volume{
		ID: v.ID, Node: p.Node, Namespace: v.Namespace, Pod: v.Pod, PodUID: v.PodUID,
		Workspace: v.Workspace, UserString: v.UserString, Storage: v.Storage,
		CreatedAt: v.Published.UTC(), DeletedAt: v.Deleted.UTC(), LifespanSeconds: v.Lifespan.Seconds(),
		GoesAt: p.Due(v).UTC(), Failure: v.Failure,
	}
	if v.Bytes >= 0 {
		d.Bytes = &v.Bytes
	}
	if v.Inodes >= 0 {
		d.Inodes = &v.Inodes
	}
	return d
}

// isOf says whether a volume is that of a workspace, named by its user string or ID, or of
// one of a user's workspaces. What the pod has said decides, and what is no user string
// is nobody's.
func isOf(v volume.Volume, of string) bool {
	if of == "" || v.Workspace == of || v.UserString == of {
		return true
	}
	wanted, err := userstring.Parse(of)
	if err != nil {
		return false
	}
	has, err := userstring.ParseCanonical(v.UserString)
	if err != nil {
		return false
	}
	if wanted.Form() == userstring.Implicit {
		return has.User == wanted.User
	}
	return has.In(wanted.Scheme).ID() == wanted.ID()
}
