package cmdutil

import (
	"context"
	"errors"
	"strings"
	"time"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/event"
	"github.com/berthdev/berth/internal/exec/pod"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/kube"
	"github.com/berthdev/berth/internal/lifecycle"
	"github.com/berthdev/berth/internal/provision"
	"github.com/berthdev/berth/internal/provision/inventory"
	"github.com/berthdev/berth/internal/terminal/printer"
	"github.com/berthdev/berth/internal/terminal/wording"
)

// Attach enters workspaces.
type Attach struct {
	Session
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
}

// Entry is a workspace that is there, and that can be entered.
type Entry struct {
	client  *kube.Client
	request pod.Request
	login   pod.Login
}

// Find finds a workspace and waits until it can be entered, unless that is not wanted.
// It is NOT_FOUND if there is nothing that could be waited for.
func (e Attach) Find(ctx context.Context, workspace string) (Entry, error) {
	arg, err := inventory.ParseArgument(workspace)
	if err != nil {
		return Entry{}, err
	}
	reader, err := Await(ctx, e.Workspaces)
	if err != nil {
		return Entry{}, err
	}
	target, err := reader.Find(ctx, arg)
	if err != nil {
		return Entry{}, err
	}
	entry, err := e.choose(ctx, reader, target, workspace)
	if err != nil {
		err = OrStopped(ctx, e.States, e.Flags, target, workspace, err)
	}
	if err == nil || e.NoWait || !isRetryable(err) {
		return entry, err
	}
	if err := e.wait(ctx, target); err != nil {
		return Entry{}, err
	}
	return e.choose(ctx, reader, target, workspace)
}

// ReasonStopped is the reason of the error about a workspace that is stopped.
const ReasonStopped = "STOPPED"

// stateTimeout is how long it may take to find out that a workspace is stopped.
const stateTimeout = 3 * time.Second

// OrStopped is the error about the pods of a workspace: that it is stopped, if it has none and
// that is recorded. What keeps the record from being read is no news here. Either says what
// brings it back, as the workspace was typed.
func OrStopped(ctx context.Context, states func(context.Context) (lifecycle.Place, func(), error), flags []string, target *inventory.Target, workspace string, err error) error {
	if fault.CodeOf(err) != fault.NotFound && fault.ReasonOf(err) != inventory.ReasonNoPod {
		return err
	}
	start := strings.Join(append([]string{inventory.StartIt(workspace)}, flags...), " ")
	if fault.ReasonOf(err) == inventory.ReasonPodGone {
		gone := *fault.From(err)
		gone.Hint, err = start, &gone
	}
	limited, cancel := context.WithTimeout(ctx, stateTimeout)
	defer cancel()
	place, done, openErr := states(limited)
	if openErr != nil {
		return err
	}
	defer done()
	r, readErr := place.Of(target.Namespace).Get(limited, target.ID)
	if readErr != nil || r.Desired != v1.DesiredStopped {
		return err
	}
	stopped := fault.New(fault.Failed, "workspace %s is stopped", target.ID).WithReason(ReasonStopped)
	stopped.Hint = start
	return stopped
}

// isRetryable is true for the error about what cannot be entered and may be, later.
func isRetryable(err error) bool {
	reason := fault.ReasonOf(err)
	return reason == pod.ReasonNotRunning || reason == inventory.ReasonNoPod
}

// choose finds the container to enter, as the pods are now.
func (e Attach) choose(ctx context.Context, reader inventory.Reader, target *inventory.Target, workspace string) (Entry, error) {
	pods, err := reader.Pods(ctx, target)
	if err != nil {
		return Entry{}, err
	}
	place := e.Place
	place.Ready = place.Container == "" // one that is named is entered to see why it does not get ready
	r, err := place.In(pods)
	if err != nil {
		return Entry{}, err
	}
	entry := Entry{client: reader.Client.In(target.Namespace), request: r}
	for _, p := range pods {
		if p.Name == r.Pod {
			entry.login = pod.LoginIn(p, r, pod.OSUser(workspace))
		}
	}
	return entry, nil
}

// wait follows the workspace on stderr until it runs.
func (e Attach) wait(ctx context.Context, target *inventory.Target) error {
	follower, err := Await(ctx, e.Follower)
	if err != nil {
		return err
	}
	title := wording.Title{UserString: target.Found.UserString(), ID: target.ID, Namespace: target.Namespace, Verb: "exec", Flags: e.Flags}
	_, err = single{e.IO, printer.Format{}, target.Namespace, title}.show(nil, func(stream *event.Stream) v1.Result {
		return ProvisionResult(follower.Await(ctx, target, stream))
	})
	return Failed(err)
}

// Failed gives a failure that has been printed the exit status of exec's own; that of
// an interruption stays.
func Failed(err error) error {
	status, printed := errors.AsType[ExitError](err)
	if err == nil || !printed || status == ExitError(fault.Interrupted.Exit()) || status == ExitError(fault.Terminated.Exit()) {
		return err
	}
	return ExitError(ExecFailed)
}

// Enter runs the command in the workspace, or its shell, and ends as that does.
func (e Attach) Enter(ctx context.Context, entry Entry) error {
	run := pod.Runner(entry.client, entry.request)
	if len(e.Command) == 0 {
		run = pod.HungUp(run)
	}
	return e.Run(ctx, entry.login.As(run), nil)
}
