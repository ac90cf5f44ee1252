package bundle

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	"github.com/berthdev/berth/api/bundle/v1alpha1"
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

	Name string
	// ServiceAccount is as what the objects of bundles are worked on whose instances name none.
	ServiceAccount    *v1alpha1.ServiceAccount
	System            string // namespace
	DeleteDefinitions bool
	KeepStorage       bool
	Yes               bool
	IgnoreNotFound    bool
	NoWait            bool
	Only              kinds
	Trust             server.Trust
	RenderTimeout     time.Duration // of a chart
	FetchTimeout      time.Duration // of a source
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

// addServiceAccountFlag adds --service-account.
func (o *ClusterOptions) addServiceAccountFlag(cmd *cobra.Command) {
	cmdutil.AddServiceAccountFlag(cmd, &o.ServiceAccount, cmdutil.FlagServiceAccount,
		"act as this ServiceAccount on what is in bundles whose instance names none (default: with your own rights)")
}

// open makes what the command works with, on what is in bundles as the ServiceAccount.
func (o *ClusterOptions) open(ctx context.Context) (instance.Reconciler, error) {
	r, err := o.Open(ctx, o.System)
	if err != nil {
		return r, err
	}
	return r.As(o.ServiceAccount)
}
