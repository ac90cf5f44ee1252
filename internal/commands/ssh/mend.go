package ssh

import (
	"context"
	"io"
	"os"
	osexec "os/exec"
	"slices"
	"time"

	"github.com/berthdev/berth/internal/commands/cmdutil"
	"github.com/berthdev/berth/internal/exec/pod"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/provision/inventory"
)

// mender does what lets a workspace be entered that cannot be now: it waits for one that starts, and starts one that is
// stopped, if that is wanted.
type mender struct {
	starts bool
	// run runs a command of berth about the workspace; nil if nothing is done.
	run  another
	once chan struct{} // holds a value while one channel of the connection helps, and the others wait
}

// newMender is one that helps by run.
func newMender(starts bool, run another) mender {
	return mender{starts: starts, run: run, once: make(chan struct{}, 1)}
}

// remedy is a command of berth that helps.
type remedy struct {
	says      string // to the client that waits
	verb      string
	arguments []string // after the workspace
}

// remedyFor is what helps about an error; false if nothing does.
func (m *mender) remedyFor(err error) (remedy, bool) {
	switch reason := fault.ReasonOf(err); {
	case m.run == nil:
	case m.starts && (reason == cmdutil.ReasonStopped || reason == pod.ReasonEnded):
		return remedy{says: "is stopped: starting it", verb: "start"}, true
	case m.starts && reason == inventory.ReasonPodGone:
		return remedy{says: "has no pod: starting it", verb: "start"}, true
	case reason == pod.ReasonNotRunning, reason == inventory.ReasonNoPod:
		return remedy{says: "is not ready yet: waiting for it", verb: "exec", arguments: []string{"--", "true"}}, true
	}
	return remedy{}, false
}

// until tries to enter a workspace, and does what helps in between.
func (m *mender) until(ctx context.Context, of Name, say func(string), try func() error) error {
	err := try()
	if _, helps := m.remedyFor(err); !helps {
		return err
	}
	select {
	case m.once <- struct{}{}:
		defer func() { <-m.once }()
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	err = try() // another channel may have helped meanwhile
	r, helps := m.remedyFor(err)
	if !helps {
		return err
	}
	say("berth: workspace " + of.Workspace + " " + r.says + "\n")
	failed := m.run(ctx, of, say, r.verb, r.arguments...)
	if err = try(); err != nil && failed != nil {
		return failed
	}
	return err
}

// another runs a command of berth about a workspace, until the context ends. What is known meanwhile about what keeps
// the workspace back is said.
type another func(ctx context.Context, of Name, say func(string), verb string, arguments ...string) error

// anotherProcess is for a command as a process of its own, which reads the configuration, follows the policy and keeps
// a record as that command does. What it says about the workspace is passed on, and its error is that of the command,
// unless all of it goes to out.
func anotherProcess(cluster, shown []string, out io.Writer) another {
	return func(ctx context.Context, of Name, say func(string), verb string, arguments ...string) error {
		own, err := os.Executable()
		if err != nil {
			return err
		}
		args, named := append([]string{verb}, cluster...), shown
		if of.Namespace != "" {
			args = append(args, "--namespace", of.Namespace)
			named = append(slices.Clip(shown), "--namespace "+fault.Word(of.Namespace))
		}
		said := &log{say: say}
		cmd := osexec.CommandContext(ctx, own, append(append(args, of.Workspace), arguments...)...) //nolint:gosec // itself
		cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
		cmd.WaitDelay = giveUp
		if cmd.Stderr = out; out == nil {
			cmd.Stderr = said
		}
		if err := cmd.Run(); err != nil {
			return said.fault(of.Workspace, named)
		}
		return nil
	}
}

// giveUp is how long a command that is interrupted may take to end.
const giveUp = 10 * time.Second
