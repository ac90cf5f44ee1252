package ssh

import (
	"bytes"
	"context"
	"io"
	"os"
	osexec "os/exec"
	"slices"
	"strings"
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
	failed := m.run(ctx, of, r.verb, r.arguments...)
	if err = try(); err != nil && failed != nil {
		return failed
	}
	return err
}

// another runs a command of berth about a workspace, until the context ends.
type another func(ctx context.Context, of Name, verb string, arguments ...string) error

// anotherProcess is for a command as a process of its own, which reads the configuration, follows the policy and keeps
// a record as that command does. The last of what it says is in the error, unless it goes to out.
func anotherProcess(cluster, shown []string, out io.Writer) another {
	return func(ctx context.Context, of Name, verb string, arguments ...string) error {
		own, err := os.Executable()
		if err != nil {
			return err
		}
		args, named := append([]string{verb}, cluster...), shown
		if of.Namespace != "" {
			args = append(args, "--namespace", of.Namespace)
			named = append(slices.Clip(shown), "--namespace "+fault.Word(of.Namespace))
		}
		var said bytes.Buffer
		cmd := osexec.CommandContext(ctx, own, append(append(args, of.Workspace), arguments...)...) //nolint:gosec // itself
		cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
		cmd.WaitDelay = giveUp
		if cmd.Stderr = out; out == nil {
			cmd.Stderr = &said
		}
		if err := cmd.Run(); err != nil {
			message := "workspace " + of.Workspace + " cannot be entered: " + lastError(said.String())
			return fault.New(fault.Failed, "%s", strings.TrimSuffix(strings.TrimSpace(message), ":")).
				WithHint("see what keeps it back: %s",
					strings.Join(append([]string{fault.Command("berth", "diagnose", of.Workspace)}, named...), " "))
		}
		return nil
	}
}

// lastError is the error with which a command of berth has ended: one line, without its code. Without one it is the end
// of what was said.
func lastError(said string) string {
	const begins = "error:"
	at := strings.LastIndex("\n"+said, "\n"+begins)
	if at < 0 {
		return strings.TrimSpace(said[max(0, len(said)-maxSaid):])
	}
	text, _, _ := strings.Cut(said[at+len(begins):], "\n")
	if open := strings.LastIndex(text, " ("); open > 0 && strings.HasSuffix(text, ")") {
		text = text[:open]
	}
	return strings.TrimSpace(text)
}

const (
	maxSaid = 4 << 10          // how much of what a command says is passed on, in bytes
	giveUp  = 10 * time.Second // how long one that is interrupted may take to end
)
