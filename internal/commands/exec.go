package commands

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/berthdev/berth/internal/exec"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/kube"
	"github.com/berthdev/berth/internal/terminal"
)

// execFailed is the exit status of exec's own failures, as container tools have
// it, so that they are not taken for the command's.
const execFailed = 125

type execOptions struct {
	stdin bool
	tty   bool
}

func newExec(a *app) *cobra.Command {
	o := &execOptions{}
	cmd := &cobra.Command{
		Use:   "exec USERSTR|ID [-- COMMAND [ARG...]]",
		Short: "Enter a workspace, or run a command in it",
		Long: `Run a command in a workspace and pass on its exit status. Without a command it is
the workspace's shell; at a terminal that is interactive.`,
		Example: `  berth exec alice~dev
  berth exec alice~dev -- uname -a
  tar c src | berth exec -i alice~dev -- tar x -C /tmp`,
		Args: func(cmd *cobra.Command, args []string) error {
			if dash := cmd.ArgsLenAtDash(); len(args) == 0 || dash == 0 || dash < 0 && len(args) > 1 || dash > 1 {
				return usage(cmd, fault.New(fault.InvalidArgument, "one workspace is needed, and what to run in it after --"))
			}
			return nil
		},
		ValidArgsFunction: a.completeWorkspaces,
		Annotations:       map[string]string{ownFailures: "125"},
		RunE: func(cmd *cobra.Command, args []string) error {
			return o.run(cmd.Context(), a, cmd, args[0], args[1:])
		},
	}
	cmd.Flags().BoolVarP(&o.stdin, "stdin", "i", false, "pass standard input to the command")
	cmd.Flags().BoolVarP(&o.tty, "tty", "t", false, "give the command a terminal")
	return cmd
}

func (o *execOptions) run(ctx context.Context, a *app, cmd *cobra.Command, arg string, command []string) error {
	if len(command) == 0 {
		command = exec.Shell()
		o.stdin = true
		o.tty = o.tty || a.streams.In.TTY && a.streams.Out.TTY
	}
	p, err := a.provisioner(cmd)
	if err != nil {
		return err
	}
	target, err := p.Find(ctx, arg)
	if err != nil {
		return err
	}
	client := p.Client.In(target.Namespace)
	pods, err := p.Pods(ctx, target)
	if err != nil {
		return err
	}
	pod := pods[0]
	container, err := exec.Container(pod)
	if err != nil {
		return err
	}
	request := exec.Request{Pod: pod.Name, Container: container, Command: command, Stdout: a.streams.Out, Stderr: a.streams.Err, TTY: o.tty}
	status, err := o.stream(ctx, a, client, request)
	if err != nil {
		return err
	}
	if status != 0 {
		return statusError(status)
	}
	return nil
}

func (o *execOptions) stream(ctx context.Context, a *app, client *kube.Client, r exec.Request) (int, error) {
	if o.stdin {
		r.Stdin = a.streams.In.Reader
	}
	if o.tty {
		restore, sizes, err := terminal.Raw(a.streams.In, a.streams.Out)
		if err != nil {
			return 0, err
		}
		defer restore()
		a.onLeave(restore)
		r.Sizes = sizes
	}
	return exec.Run(ctx, client, r)
}
