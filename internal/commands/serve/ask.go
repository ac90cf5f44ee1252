package serve

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/berthdev/berth/internal/commands/cmdutil"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/terminal"
	"github.com/berthdev/berth/internal/volume"
	"github.com/berthdev/berth/internal/volume/admin"
)

// What can be asked.
const (
	askList    = "list"
	askArchive = "archive"
	askPurge   = "purge"
)

// AskOptions are what the command line says.
type AskOptions struct {
	IO terminal.Streams

	What      string
	ID        string // of the volume, for archive and purge
	Directory string
	For       string // who asks, as they say
}

// NewAsk makes the command `berth serve ask`, which runs in the driver's container.
func NewAsk(f *cmdutil.Factory, runF func(context.Context, *AskOptions) error) *cobra.Command {
	o := &AskOptions{IO: f.IO}
	cmd := &cobra.Command{
		Use:    "ask list|archive|purge [ID]",
		Hidden: true,
		Short:  "Ask the driver of scratch volumes on this node",
		Long: `Ask the driver of scratch volumes that runs in this container. "berth volume" runs this
in the driver's pods: list prints what the node has as JSON, archive writes the files of
a volume as a tar stream, and purge removes a volume now. An error is a line of JSON on
standard error.`,
		Args:      cobra.ArbitraryArgs,
		ValidArgs: []cobra.Completion{askList, askArchive, askPurge},
		RunE: cmdutil.RunE(o, runF, func(_ *cobra.Command, args []string) error {
			return o.parse(args)
		}),
	}
	cmd.Flags().StringVar(&o.Directory, flagDirectory, volume.Directory, "the driver's working directory")
	cmd.Flags().StringVar(&o.For, "for", "", "who asks, for the audit")
	cmdutil.NoFlagValues(cmd, "for")
	return cmd
}

func (o *AskOptions) parse(args []string) error {
	wanted := 2
	if len(args) > 0 && args[0] == askList {
		wanted = 1
	}
	if len(args) != wanted || args[0] != askList && args[0] != askArchive && args[0] != askPurge {
		return invalid("requires list, archive ID or purge ID, got %q", args)
	}
	if o.What = args[0]; wanted == 2 {
		o.ID = args[1]
	}
	return nil
}

// Ask asks, and prints the answer.
func Ask(ctx context.Context, o *AskOptions) error {
	err := o.ask(ctx, admin.Client{Socket: admin.Path(o.Directory), User: o.For})
	if err == nil {
		return nil
	}
	if _, printErr := fmt.Fprintln(o.IO.Err, admin.FailureOf(err).Text()); printErr != nil {
		return printErr
	}
	return cmdutil.ExitError(fault.CodeOf(err).Exit())
}

func (o *AskOptions) ask(ctx context.Context, node admin.Client) error {
	switch o.What {
	case askArchive:
		return node.Archive(ctx, o.ID, o.IO.Out)
	case askPurge:
		return node.Purge(ctx, o.ID)
	}
	return node.CopyPicture(ctx, o.IO.Out)
}
