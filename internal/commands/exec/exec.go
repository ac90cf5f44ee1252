// Package exec is the command `berth exec`.
package exec

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/spf13/cobra"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/commands/attach"
	"github.com/berthdev/berth/internal/commands/cmdutil"
	"github.com/berthdev/berth/internal/exec"
	"github.com/berthdev/berth/internal/exec/pod"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/lifecycle"
	"github.com/berthdev/berth/internal/provision"
	"github.com/berthdev/berth/internal/provision/inventory"
	"github.com/berthdev/berth/internal/terminal"
)

// Options are what the command line says.
type Options struct {
	IO          terminal.Streams
	Workspaces  func() (inventory.Reader, error)
	Follower    func() (*provision.Provisioner, error)
	Provisioner func() (*provision.Provisioner, error)
	Recorders   func(context.Context) (*cmdutil.Recorders, error)
	States      func(context.Context) (lifecycle.Place, func(), error)
	Through     func(ctx context.Context, gateway, target, container string) (exec.Runner, error)
	Ended       func(v1.Result) // is told what became of a workspace that was provisioned
	// Flags say which cluster is meant, for commands that are proposed.
	Flags []string

	Workspace string
	Command   []string // empty for the workspace's shell
	Place     pod.Place
	Stdin     bool
	Terminal  attach.Terminal
	NoWait    bool
	Provision bool
	Keep      bool
	// Timeout and StuckAfter end the waiting for the workspace, not what runs in it.
	Timeout, StuckAfter time.Duration

	Gateway string  // empty for none
	Machine Machine // entered instead of a workspace if it has a name
}

const long = `Run a command in a workspace and exit with its status. Without a command, run the
workspace's shell. On a terminal, what runs gets one, too, with your input; --no-tty
keeps that from a command whose output is to stay as it is.

The shell starts in the home directory. If the workspace has an OS user (user=NAME in
the user string that it was provisioned with), it is that user's; a command runs as
the user of the container, in its working directory. With user=NAME in the user string
given here, both run as that user of the container. It takes a container that runs as
root, with setpriv or su in its image. Where the user does not exist, or cannot be
switched to, nothing is run: the reason is printed, and the exit status is 125.

A workspace that is not running yet is waited for, with its progress on standard error;
with --no-wait that is an error. One that was ready, or was restarted, is entered even
if it is not ready now, and so is a container named by --container that runs. With
--provision, a workspace that does not exist is provisioned first, and one that is
stopped is started, as ` + "`berth provision`" + ` does without other flags. --timeout and
--stuck-after end the waiting with exit status 125; whatever they say, what runs has as
long as it takes.

With --keep, the shell is one that outlives berth and its connection: the next
"berth exec --keep" of the same user is in it again, with what runs there, and so are
others at the same time. It is kept by tmux or screen, if the image has one, and
otherwise by a small program of berth's own that takes python3, and that Ctrl-] leaves.
It ends with "exit", or with its container.

Of a workspace in several pods, the command runs in one that is ready, or in --pod.

With --gateway, the gateway of that name in the configuration is asked instead of the
API server; it chooses the pod, and what does not run is not waited for.

When berth ends, however it does, or loses its connection, a shell on a terminal is hung
up within some seconds: a second command in the container sees to that, if it has /proc.
Any other command gets no signal: with --stdin its input ends, and otherwise it goes on,
as it does with --tty. A pager that waits, or Ctrl-S, loses nothing; the API
server ends a session in which nothing happens for hours.`

// NewCmd makes the command.
func NewCmd(f *cmdutil.Factory, runF func(context.Context, *Options) error) *cobra.Command {
	o := &Options{IO: f.IO, Workspaces: f.Workspaces}
	cmd := &cobra.Command{
		Use:        "exec USERSTR|ID|machine/NAME [-- COMMAND [ARG...]]",
		SuggestFor: []string{"shell", "sh", "enter", "attach", "connect", "bash", "zsh"},
		Short:      "Enter a workspace or a machine, or run a command in a workspace",
		Long:       long + "\n\n" + aboutMachines,
		Example: `  berth exec alice~dev
  berth exec alice~dev --provision
  berth exec alice~dev --keep
  berth exec alice~dev -- uname -a
  berth exec alice~dev -c k8shell-podman
  tar c src | berth exec -i alice~dev -- tar x -C /tmp
  berth exec alice~dev --gateway office
  berth exec machine/web`,
		Args:              checkArgs,
		ValidArgsFunction: completing(f, f.CompleteWorkspace),
		Annotations:       map[string]string{cmdutil.PassesStatus: ""},
		RunE: cmdutil.RunE(o, runF, func(cmd *cobra.Command, args []string) error {
			o.Workspace, o.Command, o.Flags = args[0], args[1:], cmdutil.ClusterFlags(cmd)
			if cmd.ArgsLenAtDash() == 0 && len(o.Command) > 0 {
				o.Command = o.Command[1:] // the second --
			}
			if err := o.Machine.parse(cmd.Flags(), args); err != nil {
				return err
			}
			return o.validate()
		}),
	}
	deps := f.For(cmd)
	o.Follower, o.Provisioner, o.Recorders, o.States = deps.Remover, deps.Provisioner, deps.Recorders, deps.States
	o.Through, o.Ended = deps.Gateway, deps.FollowHosts(cmd)
	deps.AddGatewayFlag(cmd, &o.Gateway)
	flags := cmd.Flags()
	flags.BoolVarP(&o.Stdin, "stdin", "i", false, "pass standard input to the command")
	flags.BoolVarP(&o.Terminal.Always, "tty", "t", false, "allocate a terminal; an error if berth itself has none")
	flags.BoolVarP(&o.Terminal.Never, "no-tty", "T", false, "do not allocate a terminal, even at one")
	flags.BoolVar(&o.NoWait, "no-wait", false, "fail if the workspace is not running yet")
	flags.BoolVar(&o.Provision, "provision", false,
		"provision the workspace if it does not exist, and start it if it is stopped")
	flags.BoolVar(&o.Keep, flagKeep, false, "enter a shell that goes on when berth ends, and that --keep enters again")
	cmdutil.AddTimeoutFlag(cmd, &o.Timeout)
	cmdutil.AddStuckAfterFlag(cmd, &o.StuckAfter)
	f.AddContainerFlag(cmd, &o.Place, cmdutil.FirstArgument)
	f.AddPodFlag(cmd, &o.Place, cmdutil.FirstArgument)
	o.Machine.flags(cmd)
	cmd.SetFlagErrorFunc(flagError)
	return cmd
}

const flagKeep = "keep"

// flagError is about a flag that is not known, which may be one of a command without the -- before it.
func flagError(cmd *cobra.Command, err error) error {
	if before := cmd.Flags().Args(); len(before) > 1 {
		return withoutDashes(before)
	}
	return cmdutil.UsageError(cmd, err)
}

// checkArgs wants one workspace, and -- before the command that is to run in it.
func checkArgs(cmd *cobra.Command, args []string) error {
	dash, usage := cmd.ArgsLenAtDash(), func(problem string) error {
		return cmdutil.UsageError(cmd,
			errors.New(problem))
	}
	switch {
	case dash == 0 && isDashed(args):
		return nil
	case len(args) == 0 || dash == 0:
		return usage("requires a workspace")
	case dash > 1:
		return usage("requires one workspace, and the command to run in it after --")
	case dash < 0 && len(args) > 1:
		return withoutDashes(args)
	}
	return nil
}

// isDashed is true for a workspace whose name begins with -, which is behind a -- itself. So is
// the command behind it.
func isDashed(args []string) bool {
	return len(args) > 0 && strings.HasPrefix(args[0], "-") && (len(args) == 1 || args[1] == "--" && len(args) > 2)
}

func withoutDashes(args []string) error {
	return fault.New(fault.InvalidArgument, "the command %q requires -- before it", args[1]).
		WithHint("write: %s, and then its arguments", fault.Command("berth", "exec", args[0], "--", args[1]))
}

// validate finds what is wrong with the command line.
func (o *Options) validate() error {
	if err := cmdutil.CheckTimeout(o.Timeout); err != nil {
		return err
	}
	if err := cmdutil.CheckStuckAfter(o.StuckAfter, o.NoWait); err != nil {
		return err
	}
	switch {
	case o.Terminal.Always && o.Terminal.Never:
		return fault.New(fault.InvalidArgument, "--tty and --no-tty are mutually exclusive").
			WithHint("leave out one of them")
	case o.Keep && len(o.Command) > 0:
		return fault.New(fault.InvalidArgument, "--%s takes no command: it enters a shell", flagKeep).
			WithHint("leave out the command and type it in the shell, or leave out --%s", flagKeep)
	case o.Keep && !o.Terminal.Wanted(o.IO):
		return fault.New(fault.InvalidArgument, "--%s requires a terminal", flagKeep).
			WithHint("run it at a terminal, without --no-tty, or leave out --%s", flagKeep)
	case o.Gateway != "":
		return o.throughOnly()
	case !o.Provision:
		return nil
	}
	_, err := cmdutil.ParseNewUser(o.Workspace)
	return err
}

// Run enters the workspace.
func Run(ctx context.Context, o *Options) error {
	if o.Gateway != "" {
		return o.throughGateway(ctx)
	}
	if o.Machine.Name != "" {
		return o.console(ctx)
	}
	a := attach.Attacher{
		Command: attach.Command{IO: o.IO, Args: o.Command, Stdin: o.Stdin, Terminal: o.Terminal}, Place: o.Place,
		Workspaces: o.Workspaces, Follower: o.Follower, States: o.States, Flags: o.Flags, NoWait: o.NoWait,
		Keep: o.Keep,
	}
	session, err := o.find(ctx, a)
	if err != nil {
		return err
	}
	return a.Enter(ctx, session)
}

// find finds the workspace, and waits for it as long as it may take.
func (o *Options) find(ctx context.Context, a attach.Attacher) (attach.Session, error) {
	ctx, cancel := cmdutil.WithTimeout(ctx, o.Timeout)
	defer cancel()
	session, err := a.Find(ctx, o.Workspace)
	reason := fault.ReasonOf(err)
	if fault.CodeOf(err) == fault.NotFound || o.Provision &&
		(reason == cmdutil.ReasonStopped || reason == pod.ReasonEnded) {
		session, err = o.missing(ctx, a, err)
	}
	if _, printed := errors.AsType[cmdutil.ExitError](err); printed {
		return session, err
	}
	return session, cmdutil.Because(ctx, err)
}

// missing provisions a workspace that is not there, if that is wanted.
func (o *Options) missing(ctx context.Context, a attach.Attacher, missing error) (attach.Session, error) {
	u, err := cmdutil.ParseNewUser(o.Workspace)
	switch fault.ReasonOf(missing) {
	case inventory.ReasonMeant, inventory.ReasonPodGone, inventory.ReasonNoNamespace: // which says what helps
		if !o.Provision {
			return attach.Session{}, missing
		}
	}
	if err == nil && !o.Provision {
		command := append([]string{"berth", "exec", fault.Word(o.Workspace), "--provision"}, o.Flags...)
		return attach.Session{}, fault.New(fault.NotFound, "%w", missing).
			WithHint("provision and enter it: %s", strings.Join(command, " "))
	}
	if err != nil {
		return attach.Session{}, missing
	}
	p := attach.Provisioning{
		IO: o.IO, Provisioner: o.Provisioner, Recorders: o.Recorders, Flags: o.Flags, Ended: o.Ended,
	}
	if err := attach.Failed(p.Run(ctx, u)); err != nil {
		return attach.Session{}, err
	}
	return a.Find(ctx, o.Workspace)
}
