package bundle

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	"github.com/berthdev/berth/internal/bundle/instance"
	"github.com/berthdev/berth/internal/bundle/server"
	"github.com/berthdev/berth/internal/commands/cmdutil"
	"github.com/berthdev/berth/internal/terminal"
	"github.com/berthdev/berth/internal/terminal/printer"
)

// ClusterOptions are what the command lines of those commands say that look at the
// instances of a cluster, or work on them.
type ClusterOptions struct {
	IO terminal.Streams
	// Open makes what the commands work with, for a system namespace.
	Open  func(ctx context.Context, system string) (instance.Reconciler, error)
	Flags []string

	Name              string
	System            string // namespace
	DeleteDefinitions bool
	Yes               bool
	IgnoreNotFound    bool
	NoWait            bool
	Only              kinds
	Trust             server.Trust
	RenderTimeout     time.Duration // of a chart
	Timeout           time.Duration
	Output            printer.Format
}

// newCluster makes the options of a command.
func newCluster(f *cmdutil.Factory, cmd *cobra.Command, formats ...string) *ClusterOptions {
	o := &ClusterOptions{IO: f.IO, Open: f.Bundles}
	addSystemFlag(cmd, &o.System)
	cmdutil.AddOutputFlag(cmd, &o.Output, formats...)
	return o
}

// completeInstance completes the name of an instance.
func completeInstance(f *cmdutil.Factory) cobra.CompletionFunc {
	return cmdutil.CompleteOne(func(cmd *cobra.Command) (names []cobra.Completion, err error) {
		ctx, cancel := context.WithTimeout(cmd.Context(), cmdutil.CompletionTimeout)
		defer cancel()
		r, err := f.Bundles(ctx, "")
		if err != nil {
			return nil, err
		}
		states, err := r.Recorded(ctx)
		for _, s := range states {
			names = append(names, cobra.CompletionWithDesc(s.Name, string(s.State)))
		}
		return names, err
	})
}

// completeSource completes the name of an instance, and then a file: what else a source
// may be is nowhere listed.
func completeSource(f *cmdutil.Factory) cobra.CompletionFunc {
	instances := completeInstance(f)
	return func(cmd *cobra.Command, args []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
		switch len(args) {
		case 0:
			return instances(cmd, args, typed)
		case 1:
			return nil, cobra.ShellCompDirectiveDefault
		}
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
}
