// Package logs is the command `berth logs`.
package logs

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/commands/cmdutil"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/kube"
	"github.com/berthdev/berth/internal/logs"
	"github.com/berthdev/berth/internal/terminal"
	"github.com/berthdev/berth/internal/terminal/printer"
	"github.com/berthdev/berth/internal/watch/cause"
)

// Options are what the command line says.
type Options struct {
	IO     terminal.Streams
	Pods   cmdutil.Pods
	Policy func() cause.Policy

	Workspace     string
	Container     string // empty for the main one
	AllContainers bool
	Follow        bool
	Previous      bool
	Timestamps    bool
	Tail          int64 // lines; -1 for all
	Since         time.Duration
}

// NewCmd makes the command.
func NewCmd(f *cmdutil.Factory, runF func(context.Context, *Options) error) *cobra.Command {
	o := &Options{IO: f.IO}
	cmd := &cobra.Command{
		Use:        "logs USERSTR|ID",
		SuggestFor: []string{"log", "tail"},
		Short:      "Print the logs of a workspace",
		Long: `Print the log of a workspace's main container, of another container, or of all.
With --follow, follow it until the container ends; one that has not started yet is
waited for, unless the workspace has failed.`,
		Example: `  berth logs alice~dev
  berth logs alice~dev --follow --tail 20
  berth logs alice~dev --all-containers --since 5m
  berth logs alice~dev --previous`,
		Args:              cmdutil.OneArg("workspace"),
		ValidArgsFunction: f.CompleteWorkspace,
		RunE: cmdutil.RunE(o, runF, func(cmd *cobra.Command, args []string) error {
			o.Workspace, o.Pods.Flags = args[0], cmdutil.ClusterFlags(cmd)
			return o.validate()
		}),
	}
	deps := f.For(cmd)
	o.Pods.Workspaces, o.Pods.States, o.Policy = deps.Workspaces, deps.States, deps.PolicyOrDefault
	flags := cmd.Flags()
	flags.StringVarP(&o.Container, "container", "c", "", "the container, or init container (default: "+v1.MainContainer+
		")")
	flags.BoolVar(&o.AllContainers, "all-containers", false,
		"print all containers, with the container's name before each line")
	flags.BoolVarP(&o.Follow, "follow", "f", false, "follow the log until the container ends")
	flags.BoolVarP(&o.Previous, "previous", "p", false, "print the log of the previous instance")
	flags.Int64Var(&o.Tail, "tail", -1, "how many of the last lines to print (-1: all)")
	flags.DurationVar(&o.Since, "since", 0, "only lines newer than this, such as 30s or 2h (0: all)")
	flags.BoolVar(&o.Timestamps, "timestamps", false, "print the time of each line")
	_ = cmd.RegisterFlagCompletionFunc("container",
		cobra.FixedCompletions([]string{v1.MainContainer}, cobra.ShellCompDirectiveNoFileComp))
	return cmd
}

// validate finds flags that do not go together.
func (o *Options) validate() error {
	switch {
	case o.Tail < -1:
		return fault.New(fault.InvalidArgument, "--tail must not be negative, got %d", o.Tail)
	case o.Since < 0:
		return fault.New(fault.InvalidArgument, "--since must not be negative, got %s", o.Since)
	case o.Container != "" && o.AllContainers:
		return fault.New(fault.InvalidArgument, "--container and --all-containers are mutually exclusive")
	case o.Follow && o.Previous:
		return fault.New(fault.InvalidArgument,
			"--follow and --previous are mutually exclusive: the previous instance has ended")
	}
	return nil
}

// Run prints the logs.
func Run(ctx context.Context, o *Options) error {
	client, pods, err := o.Pods.Find(ctx, o.Workspace)
	if err != nil {
		return err
	}
	request := logs.Request{
		Container: o.Container, Follow: o.Follow, Previous: o.Previous,
		Timestamps: o.Timestamps, Tail: o.Tail, Since: o.Since, Policy: o.Policy(),
		Lost: func(err error) { printer.PrintNote(o.IO, "connection lost, retrying: "+err.Error()) },
	}
	if o.Container == "" {
		request.Container = kube.MainContainer(pods[0].Labels)
	}
	switch {
	case len(pods) > 1:
		err = logs.CopyPods(ctx, client, pods, request, o.AllContainers, o.IO.Out)
	case o.AllContainers:
		err = logs.CopyAll(ctx, client, pods[0], request, o.IO.Out)
	default:
		err = logs.Copy(ctx, client, pods[0], request, o.IO.Out)
	}
	if o.Follow {
		return cmdutil.FollowEnded(ctx, err)
	}
	return err
}
