// Package volume is the commands below `berth volume`.
package volume

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/berthdev/berth/internal/commands/cmdutil"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/terminal"
	"github.com/berthdev/berth/internal/terminal/printer"
	"github.com/berthdev/berth/internal/terminal/result"
	"github.com/berthdev/berth/internal/terminal/style"
	"github.com/berthdev/berth/internal/volume"
	"github.com/berthdev/berth/internal/volume/nodes"
)

// NewCmd makes the commands.
func NewCmd(f *cmdutil.Factory) *cobra.Command {
	cmd := cmdutil.Group(&cobra.Command{
		Use:   "volume",
		Short: "Look after scratch volumes whose pods are gone",
		Long: `Look after scratch volumes whose pods are gone: what a storage of type scratch has
kept stays on its node for a while, and can be listed, restored and removed.

Where the drivers let users read (serve volumes --read-listen), list, read and cp show what
the caller's own pods have left: set volumes.readURL in the configuration, or --read-url.

The other commands are for administrators. They run a command in the pods of the drivers
(berth serve volumes), which takes the permission to create pods/exec in their
namespace: anyone who has it can read and remove the data of all namespaces. "berth help
rbac" has the Roles. Drivers log each restore and each purge with "msg":"audit"; the
user there is who the client says it is, and the audit log of the API server has who
ran the command.`,
		Example: `  berth volume list
  berth volume list --of alice~dev
  berth volume read 1f0c9a2b4d logs/build.log --tail 4096
  berth volume cp 1f0c9a2b4d:logs ./logs
  berth volume restore 1f0c9a2b4d --to ./rescued
  berth volume purge --all-of alice~dev`,
	})
	cmd.AddCommand(NewList(f, List), NewRead(f, Read), NewCopy(f, Copy), NewRestore(f, Restore), NewPurge(f, Purge))
	return cmd
}

// Drivers say which drivers are asked, and how.
type Drivers struct {
	IO terminal.Streams
	// Open finds the drivers in a namespace.
	Open func(ctx context.Context, namespace string) (nodes.Nodes, error)

	Namespace string // of the drivers
	Node      string // empty for all
	Timeout   time.Duration
	Output    printer.Format
}

// perNode is how long a node may take to list what it has.
const perNode = 20 * time.Second

// drivers makes the options that the commands share.
func drivers(f *cmdutil.Factory, cmd *cobra.Command, d *Drivers, formats ...string) {
	d.IO, d.Open = f.IO, f.Volumes
	cmd.Flags().StringVar(&d.Namespace, "driver-namespace", volume.Namespace, "the namespace of the drivers")
	cmd.Flags().StringVar(&d.Node, "node", "", "ask only the driver of this node")
	cmdutil.NoFlagValues(cmd, "driver-namespace")
	_ = cmd.RegisterFlagCompletionFunc("node",
		func(cmd *cobra.Command, _ []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
			return f.CompleteVolumes(cmd, d.Namespace, nodeNames)
		})
	cmdutil.AddTimeoutFlag(cmd, &d.Timeout)
	cmdutil.AddOutputFlag(cmd, &d.Output, formats...)
}

func (d *Drivers) validate() error {
	if d.Namespace == "" {
		return fault.New(fault.InvalidArgument, "--driver-namespace must not be empty")
	}
	return cmdutil.CheckTimeout(d.Timeout)
}

// ask asks the drivers what they have. A node that does not answer is a warning, unless
// none does.
func (d *Drivers) ask(ctx context.Context) ([]nodes.Answer, error) {
	all, err := d.Open(ctx, d.Namespace)
	if err != nil {
		return nil, err
	}
	found, err := all.List(ctx, d.Node)
	if err != nil {
		return nil, err
	}
	answers := nodes.Ask(ctx, found, perNode)
	if err := context.Cause(ctx); err != nil {
		return nil, err
	}
	return d.heard(answers)
}

// heard warns of nodes that do not answer, or is the error if all of them do not.
func (d *Drivers) heard(answers []nodes.Answer) ([]nodes.Answer, error) {
	failed := 0
	for _, a := range answers {
		if a.Err != nil {
			failed++
		}
	}
	if failed == len(answers) {
		return nil, noAnswer(answers)
	}
	for _, a := range answers {
		if a.Err != nil {
			printer.PrintWarning(d.IO, "node "+a.Node.Name+" is left out: "+a.Err.Error())
		}
	}
	return answers, nil
}

// noAnswer is the error where no node answers: often, all of them have the same.
func noAnswer(answers []nodes.Answer) error {
	first := fault.From(answers[0].Err)
	if len(answers) == 1 || first.Code == fault.PermissionDenied {
		return first
	}
	err := fault.New(first.Code, "none of the %d nodes answers", len(answers))
	err.Hint = first.Hint
	for _, a := range answers {
		err.Problems = append(err.Problems, a.Node.Name+": "+a.Err.Error())
	}
	return err
}

func nodeNames(ctx context.Context, all nodes.Nodes) (names []cobra.Completion, err error) {
	found, err := all.List(ctx, "")
	for _, n := range found {
		names = append(names, n.Name)
	}
	return names, err
}

// volumeNames completes IDs of volumes, but those that are there already.
func volumeNames(except []string) func(context.Context, nodes.Nodes) ([]cobra.Completion, error) {
	return func(ctx context.Context, all nodes.Nodes) (names []cobra.Completion, err error) {
		found, err := all.List(ctx, "")
		if err != nil {
			return nil, err
		}
		list := listOf(nodes.Ask(ctx, found, cmdutil.CompletionTimeout), "")
		short := result.ShortVolumes(list.Items)
		for _, v := range list.Items {
			there := func(id string) bool { return strings.HasPrefix(withoutPrefix(v.ID), withoutPrefix(id)) }
			if !slices.ContainsFunc(except, there) {
				about := style.CleanText(fault.Line(v.UserString + " " + v.Storage + " on " + v.Node))
				names = append(names, cobra.CompletionWithDesc(short(v.ID), about))
			}
		}
		return names, nil
	}
}
