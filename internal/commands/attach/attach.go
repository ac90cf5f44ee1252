// Package attach is how commands get into a workspace: they find it, wait until it can be entered, and connect a
// command that runs there with the streams of this process.
package attach

import (
	"context"
	"errors"

	corev1 "k8s.io/api/core/v1"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/commands/batch"
	"github.com/berthdev/berth/internal/commands/cmdutil"
	"github.com/berthdev/berth/internal/exec"
	"github.com/berthdev/berth/internal/exec/pod"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/kube"
	"github.com/berthdev/berth/internal/lifecycle"
	"github.com/berthdev/berth/internal/provision"
	"github.com/berthdev/berth/internal/provision/inventory"
	"github.com/berthdev/berth/internal/terminal"
	"github.com/berthdev/berth/internal/terminal/wording"
	"github.com/berthdev/berth/internal/userstring"
)

// Attacher enters workspaces.
type Attacher struct {
	Command
	pod.Place
	Workspaces func() (inventory.Reader, error)
	// Follower follows a workspace that does not run yet, under the configured policy.
	// It is asked for then.
	Follower func() (*provision.Provisioner, error)
	// States says whether a workspace without a pod is stopped; it is asked for then.
	States func(context.Context) (lifecycle.Place, func(), error)
	// Flags say which cluster is meant, for commands that are proposed.
	Flags  []string
	NoWait bool
	// Keep is for the shell that is kept, instead of a new one.
	Keep bool
}

// Session is a workspace that is there, and that can be entered.
type Session struct {
	client  *kube.Client
	request pod.Request
	login   pod.Login
	seen    pod.Seen
}

// Find finds a workspace and waits until it can be entered, unless that is not wanted.
// It is NOT_FOUND if there is nothing that could be waited for.
func (a Attacher) Find(ctx context.Context, workspace string) (Session, error) {
	arg, err := inventory.ParseArgument(workspace)
	if err != nil {
		return Session{}, err
	}
	reader, err := cmdutil.Await(ctx, a.Workspaces)
	if err != nil {
		return Session{}, err
	}
	reader.Client.Ready.Prepare()
	target, err := reader.Find(ctx, arg)
	if err != nil {
		return Session{}, err
	}
	session, err := a.choose(ctx, reader, reader.PodsFound, target, workspace)
	if err != nil {
		err = cmdutil.OrStopped(ctx, a.States, a.Flags, target, workspace, err)
	}
	if err == nil || a.NoWait || !isRetryable(err) {
		return session, err
	}
	if err := a.wait(ctx, target); err != nil {
		return Session{}, err
	}
	return a.choose(ctx, reader, reader.Pods, target, workspace)
}

// isRetryable is true for the error about what cannot be entered and may be, later.
func isRetryable(err error) bool {
	reason := fault.ReasonOf(err)
	return reason == pod.ReasonNotRunning || reason == inventory.ReasonNoPod
}

// choose finds the container to enter among the pods.
func (a Attacher) choose(
	ctx context.Context, reader inventory.Reader, pods func(context.Context, *inventory.Target) ([]*corev1.Pod, error),
	target *inventory.Target, workspace string,
) (Session, error) {
	all, err := pods(ctx, target)
	if err != nil {
		return Session{}, err
	}
	place := a.Place
	place.Ready = place.Container == "" // one that is named is entered to see why it does not get ready
	r, err := place.In(all)
	if err != nil {
		return Session{}, err
	}
	session := Session{client: reader.Client.In(target.Namespace), request: r}
	for _, p := range all {
		if p.Name == r.Pod {
			session.login = pod.LoginIn(p, r, pod.OSUser(workspace))
			session.seen = pod.See(session.client, p, r)
		}
	}
	return session, nil
}

// wait follows the workspace on stderr until it runs.
func (a Attacher) wait(ctx context.Context, target *inventory.Target) error {
	follower, err := cmdutil.Await(ctx, a.Follower)
	if err != nil {
		return err
	}
	title := wording.Title{
		UserString: target.Found.UserString(), ID: target.ID, Namespace: target.Namespace, Verb: "exec", Flags: a.Flags,
	}
	return Failed(batch.Work{
		IO: a.IO, Batch: batch.Single(target.Namespace, title),
		One: func(ctx context.Context, m batch.Member) v1.Result {
			return batch.ProvisionResult(follower.Await(ctx, target, m.Stream))
		},
	}.Run(ctx))
}

// Enter runs the command in the workspace, or its shell, and ends as that does.
func (a Attacher) Enter(ctx context.Context, session Session) error {
	run, shell := pod.Runner(session.client, session.request), []string(nil)
	if len(a.Args) == 0 {
		run = pod.HungUp(run)
	}
	if a.Keep {
		run, shell = session.login.Theirs(run), pod.Kept()
	} else {
		run = session.login.As(run)
	}
	return a.Run(ctx, func(ctx context.Context, command []string, s exec.Session) (int, error) {
		status, err := run(ctx, command, s)
		return session.seen.Ended(ctx, status, err)
	}, shell)
}

// Provisioning brings up a workspace for a command that goes on with it.
type Provisioning struct {
	IO          terminal.Streams
	Provisioner func() (*provision.Provisioner, error)
	Recorders   func(context.Context) (*cmdutil.Recorders, error)
	Flags       []string
	// Ended is told the result; nil for nothing.
	Ended func(v1.Result)
}

// Run brings the workspace up, or follows the run that does. One that runs already is no error.
func (p Provisioning) Run(ctx context.Context, u userstring.UserString) error {
	provisioner, err := cmdutil.Await(ctx, p.Provisioner)
	if err != nil {
		return err
	}
	if u, err = provisioner.Named(ctx, u); err != nil {
		return err
	}
	provisioner.WaitForLock = true
	recorders, err := p.Recorders(ctx)
	if err != nil {
		return err
	}
	defer recorders.Close()
	provisioner.States = recorders.States(provisioner.Client)
	title := wording.Title{
		UserString: u.String(), ID: u.ID(), Namespace: provisioner.For(u).Client.Namespace,
		Verb: "provision", Flags: p.Flags, Enters: true,
	}
	return batch.Work{
		IO: p.IO, Batch: batch.Single(provisioner.Client.Namespace, title), Recorders: recorders,
		Ended: p.Ended,
		One: func(ctx context.Context, m batch.Member) v1.Result {
			provisioner.Jobs = m.Jobs
			return batch.StartResult(provisioner.Provision(ctx, u, m.Stream))
		},
	}.Run(ctx)
}

// Command is a command that runs elsewhere, and how it is connected with the streams of
// this process.
type Command struct {
	IO    terminal.Streams
	Args  []string // the command line; empty for the shell
	Stdin bool     // is passed to the command; to what has a terminal, and to a shell, it always is
	Terminal
}

// Terminal says whether a command gets one. It does if this process has one for its input and
// its output, unless told otherwise.
type Terminal struct {
	Always, Never bool
}

// Wanted is true if a command gets a terminal.
func (t Terminal) Wanted(io terminal.Streams) bool {
	return t.Always || !t.Never && io.In.TTY && io.Out.TTY
}

// Run runs the command, or the shell, and ends as it does.
func (c Command) Run(ctx context.Context, run exec.Runner, shell []string) error {
	status, err := c.stream(ctx, run, shell)
	if err == nil && status != 0 {
		err = cmdutil.ExitError(status)
	}
	return err
}

func (c Command) stream(ctx context.Context, run exec.Runner, shell []string) (status int, err error) {
	command, isShell := c.Args, len(c.Args) == 0
	if isShell {
		command = shell
	}
	session := exec.Session{Stdout: c.IO.Out, Stderr: c.IO.Err, TTY: c.Wanted(c.IO)}
	if c.Stdin || isShell || session.TTY && !c.Always {
		session.Stdin = c.IO.In.Reader
	}
	if session.TTY {
		restore, sizes, err := terminal.Raw(c.IO.In, c.IO.Out)
		if err != nil {
			return 0, err
		}
		defer restore()
		c.IO.AtExit(restore)
		session.Sizes = sizes
	}
	return run(ctx, command, session)
}

// The exit statuses of exec's own failures, as container tools and shells have them, so that
// they are not taken for those of the command that it runs.
const (
	ExitFailed        = 125
	exitNotExecutable = 126
	exitNotFound      = 127
)

// ExitStatus is the exit status of a failure of exec's own: of a program that the container
// does not have, or cannot execute, that of a shell; of a container that has ended, that of a
// command that was killed with it.
func ExitStatus(err error) int {
	switch fault.ReasonOf(err) {
	case pod.ReasonNotFound:
		return exitNotFound
	case pod.ReasonNotExecutable:
		return exitNotExecutable
	case pod.ReasonOver:
		return pod.Killed
	}
	return ExitFailed
}

// Failed gives a failure that has been printed the exit status of exec's own; that of
// an interruption stays.
func Failed(err error) error {
	status, printed := errors.AsType[cmdutil.ExitError](err)
	if err == nil || !printed {
		return err
	}
	if int(status) == fault.Interrupted.Exit() || int(status) == fault.Terminated.Exit() {
		return err
	}
	return cmdutil.ExitError(ExitFailed)
}
