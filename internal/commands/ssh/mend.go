package ssh

import (
	"context"
	"io"
	"os"
	osexec "os/exec"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/berthdev/berth/internal/commands/cmdutil"
	"github.com/berthdev/berth/internal/exec"
	"github.com/berthdev/berth/internal/exec/pod"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/provision/inventory"
)

// mender does what lets a workspace be entered that cannot be now: it waits for one that starts, and starts one that is
// stopped, if that is wanted.
type mender struct {
	starts bool
	// run runs a command of berth about the workspace; nil if nothing is done.
	run  func(of Name, verb string, arguments ...string) error
	once sync.Mutex // all channels of a connection wait for the same command
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
	case reason == pod.ReasonNotRunning, reason == inventory.ReasonNoPod:
		return remedy{says: "is not ready yet: waiting for it", verb: "exec", arguments: []string{"--", "true"}}, true
	}
	return remedy{}, false
}

// until tries to enter a workspace, and does what helps in between.
func (m *mender) until(of Name, say func(string), try func() error) error {
	err := try()
	if _, helps := m.remedyFor(err); !helps {
		return err
	}
	m.once.Lock()
	defer m.once.Unlock()
	err = try() // another channel may have helped meanwhile
	r, helps := m.remedyFor(err)
	if !helps {
		return err
	}
	say("berth: workspace " + of.Workspace + " " + r.says + "\n")
	failed := m.run(of, r.verb, r.arguments...)
	if err = try(); err != nil && failed != nil {
		return failed
	}
	return err
}

// another runs a command of berth as a process of its own, which reads the configuration, follows the policy and keeps a
// record as that command does. What it says is in the error, unless it goes to out.
func another(ctx context.Context, cluster, shown []string, out io.Writer) func(Name, string, ...string) error {
	return func(of Name, verb string, arguments ...string) error {
		own, err := os.Executable()
		if err != nil {
			return err
		}
		args, shown := append([]string{verb}, cluster...), shown
		if of.Namespace != "" {
			args = append(args, "--namespace", of.Namespace)
			shown = append(slices.Clip(shown), "--namespace", of.Namespace)
		}
		said := exec.Beginning{Max: maxSaid}
		cmd := osexec.CommandContext(ctx, own, append(append(args, of.Workspace), arguments...)...) //nolint:gosec // itself
		cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
		cmd.WaitDelay = giveUp
		if cmd.Stderr = out; out == nil {
			cmd.Stderr = &said
		}
		if err := cmd.Run(); err != nil {
			message := strings.TrimSpace("the workspace cannot be entered:\n" + said.String())
			return fault.New(fault.Failed, "%s", strings.TrimSuffix(message, ":")).
				WithHint("see what keeps it back: %s", fault.Command(append([]string{"berth", "diagnose", of.Workspace}, shown...)...))
		}
		return nil
	}
}

const (
	maxSaid = 4 << 10          // how much of what a command says is passed on, in bytes
	giveUp  = 10 * time.Second // how long one that is interrupted may take to end
)
