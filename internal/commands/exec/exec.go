// Package exec is the command `berth exec`.
package exec

import (
	"context"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/berthdev/berth/internal/commands/cmdutil"
	"github.com/berthdev/berth/internal/exec/pod"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/kube"
	"github.com/berthdev/berth/internal/provision/inventory"
	"github.com/berthdev/berth/internal/terminal"
)

// failed is the exit status of exec's own failures, as container tools have it,
// so that they are not taken for the command's.
const failed = 125

// Options are what the command line says.
type Options struct {
	IO         terminal.Streams
	Workspaces func() (inventory.Reader, error)

	Workspace string
	Command   []string // empty for the workspace's shell
	Stdin     bool
	TTY       bool
}

// NewCmd makes the command.
func NewCmd(f *cmdutil.Factory, runF func(context.Context, *Options) error) *cobra.Command {
	o := &Options{IO: f.IO, Workspaces: f.Workspaces}
	cmd := &cobra.Command{
		Use:   "exec USERSTR|ID [-- COMMAND [ARG...]]",
		Short: "Enter a workspace, or run a command in it",
		Long: `Run a command in a workspace and exit with its status. Without a command, run the
workspace's shell; on a terminal the shell is interactive.`,
		Example: `  berth exec alice~dev
  berth exec alice~dev -- uname -a
  tar c src | berth exec -i alice~dev -- tar x -C /tmp`,
		Args: func(cmd *cobra.Command, args []string) error {
			if dash := cmd.ArgsLenAtDash(); len(args) == 0 || dash == 0 || dash < 0 && len(args) > 1 || dash > 1 {
				return cmdutil.UsageError(cmd, fault.New(fault.InvalidArgument, "requires one workspace, and the command to run in it after --"))
			}
			return nil
		},
		ValidArgsFunction: f.CompleteWorkspace,
		Annotations:       map[string]string{cmdutil.OwnExitStatus: strconv.Itoa(failed)},
		RunE: func(cmd *cobra.Command, args []string) error {
			o.Workspace, o.Command = args[0], args[1:]
			return runF(cmd.Context(), o)
		},
	}
	cmd.Flags().BoolVarP(&o.Stdin, "stdin", "i", false, "pass standard input to the command")
	cmd.Flags().BoolVarP(&o.TTY, "tty", "t", false, "give the command a terminal")
	return cmd
}

// Run enters the workspace.
func Run(ctx context.Context, o *Options) error {
	client, pods, err := cmdutil.FindPods(ctx, o.Workspaces, o.Workspace)
	if err != nil {
		return err
	}
	request, err := pod.Into(pods[0])
	if err != nil {
		return err
	}
	status, err := o.stream(ctx, client, request)
	if err == nil && status != 0 {
		err = cmdutil.ExitError(status)
	}
	return err
}

// stream runs the command and connects it with the terminal.
func (o *Options) stream(ctx context.Context, client *kube.Client, r pod.Request) (status int, err error) {
	shell := len(o.Command) == 0
	r.Command, r.Stdout, r.Stderr = o.Command, o.IO.Out, o.IO.Err
	r.TTY = o.TTY || shell && o.IO.In.TTY && o.IO.Out.TTY
	if shell {
		r.Command = pod.Shell()
	}
	if o.Stdin || shell {
		r.Stdin = o.IO.In.Reader
	}
	if r.TTY {
		restore, sizes, err := terminal.Raw(o.IO.In, o.IO.Out)
		if err != nil {
			return 0, err
		}
		defer restore()
		o.IO.AtExit(restore)
		r.Sizes = sizes
	}
	return pod.Run(ctx, client, r)
}
