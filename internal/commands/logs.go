package commands

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/kube"
	"github.com/berthdev/berth/internal/logs"
)

type logsOptions struct {
	container     string
	allContainers bool
	follow        bool
	previous      bool
	timestamps    bool
	tail          int64
	since         time.Duration
}

func newLogs(a *app) *cobra.Command {
	o := &logsOptions{}
	cmd := &cobra.Command{
		Use:   "logs USERSTR|ID",
		Short: "Print what a workspace has logged",
		Long: `Print the log of a workspace's main container, of another one, or of all. With
--follow it goes on until the container ends, and waits for one that has not
started yet.`,
		Example: `  berth logs alice~dev
  berth logs alice~dev --follow --tail 20
  berth logs alice~dev --all-containers --since 5m
  berth logs alice~dev --previous`,
		Args:              exactlyOne("workspace"),
		ValidArgsFunction: a.completeWorkspaces,
		RunE:              func(cmd *cobra.Command, args []string) error { return o.run(cmd.Context(), a, cmd, args[0]) },
	}
	flags := cmd.Flags()
	flags.StringVarP(&o.container, "container", "c", v1.MainContainer, "the container, an init container included")
	flags.BoolVar(&o.allContainers, "all-containers", false, "all containers, each line behind the container's name")
	flags.BoolVarP(&o.follow, "follow", "f", false, "go on until the container ends")
	flags.BoolVarP(&o.previous, "previous", "p", false, "the log of the instance before the last restart")
	flags.Int64Var(&o.tail, "tail", -1, "how many of the last lines (-1: all)")
	flags.DurationVar(&o.since, "since", 0, "only what is younger, such as 30s or 2h (0: all)")
	flags.BoolVar(&o.timestamps, "timestamps", false, "begin each line with its time")
	_ = cmd.RegisterFlagCompletionFunc("container", cobra.FixedCompletions([]string{v1.MainContainer}, cobra.ShellCompDirectiveNoFileComp))
	return cmd
}

func (o *logsOptions) run(ctx context.Context, a *app, cmd *cobra.Command, arg string) error {
	if err := o.validate(cmd.Flags().Changed("container")); err != nil {
		return usage(cmd, err)
	}
	p, err := a.provisioner(cmd)
	if err != nil {
		return err
	}
	target, err := p.Find(ctx, arg)
	if err != nil {
		return err
	}
	pods, err := p.Pods(ctx, target)
	if err != nil {
		return err
	}
	if !cmd.Flags().Changed("container") {
		o.container = kube.MainContainer(pods[0].Labels)
	}
	client := p.Client.In(target.Namespace)
	request := logs.Request{
		Container: o.container, Follow: o.follow, Previous: o.previous,
		Timestamps: o.timestamps, Tail: o.tail, Since: o.since,
	}
	switch {
	case len(pods) > 1:
		err = logs.CopyPods(ctx, client, pods, request, o.allContainers, a.streams.Out)
	case o.allContainers:
		err = logs.CopyAll(ctx, client, pods[0], request, a.streams.Out)
	default:
		err = logs.Copy(ctx, client, pods[0], request, a.streams.Out)
	}
	if o.follow && err != nil && ctx.Err() != nil {
		// Who follows ends it by Ctrl-C: that is no error to speak of.
		return statusError(fault.CodeOf(context.Cause(ctx)).Exit())
	}
	return err
}

// validate finds flags that do not fit.
func (o *logsOptions) validate(named bool) error {
	switch {
	case o.tail < -1:
		return fault.New(fault.InvalidArgument, "--tail %d is negative", o.tail)
	case o.since < 0:
		return fault.New(fault.InvalidArgument, "--since %s is negative", o.since)
	case named && o.allContainers:
		return fault.New(fault.InvalidArgument, "--container and --all-containers exclude each other")
	case o.follow && o.previous:
		return fault.New(fault.InvalidArgument, "--follow and --previous exclude each other: an instance that has ended says no more")
	}
	return nil
}
