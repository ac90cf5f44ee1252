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
	"github.com/berthdev/berth/internal/pattern"
	"github.com/berthdev/berth/internal/provision/inventory"
	"github.com/berthdev/berth/internal/terminal/wording"
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
		args = append(append(args, of.Workspace), arguments...)
		cmd := osexec.CommandContext(ctx, own, args...) //nolint:gosec // itself
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

// log is what a command of berth says while it waits for a workspace: dated lines, and an error in the end. What keeps
// the workspace back is passed on as soon as it is known. The lines are read rather than events, as it is their printer
// that decides what is news; TestLogOfThePrinters holds the two together.
type log struct {
	say func(string) // to the session that waits

	rest  []byte // a line that has not ended
	last  string // the end of all of it
	told  []string
	error string // the one that it has ended with
	hints []string
}

const (
	dated pattern.Expr = `^\d{4}-\d\d-\d\dT[0-9:]+Z \S+ (cause|error|hint|stuck)(?: (\w+))?: (.*)$`
	// howLong begins the error of a command that has waited: what came of it, and when.
	howLong pattern.Expr = `^[a-z ]+ after [0-9][0-9a-zµ.]*: `
)

// Write implements io.Writer.
func (l *log) Write(p []byte) (int, error) {
	l.last += string(p)
	l.last = l.last[max(0, len(l.last)-maxSaid):]
	l.rest = append(l.rest, p...)
	for {
		line, rest, whole := bytes.Cut(l.rest, []byte("\n"))
		if !whole {
			return len(p), nil
		}
		l.rest = rest
		l.line(strings.TrimRight(string(line), "\r"))
	}
}

func (l *log) line(line string) {
	found := dated.FindStringSubmatch(line)
	if found == nil {
		return
	}
	kind, code, text := found[1], found[2], found[3]
	switch kind {
	case "cause":
		l.tell("berth: " + code + ": " + text)
	case "stuck":
		if text == wording.StuckText {
			l.tell("berth: " + text)
		}
	case "error":
		if l.error == "" {
			l.error = howLong.ReplaceAllString(text, "")
		}
	case "hint":
		if l.error != "" {
			l.hints = append(l.hints, text)
		} else {
			l.tell("hint: " + text)
		}
	}
}

// tell passes a line on, once.
func (l *log) tell(line string) {
	if !slices.Contains(l.told, line) {
		l.told = append(l.told, line)
		l.say(line + "\n")
	}
}

// fault is the error of the command, with what helps, unless that has been told. The flags say which cluster is meant.
func (l *log) fault(workspace string, flags []string) error {
	why, hints := l.error, slices.Clone(l.hints)
	if why == "" {
		why, hints = lastError(l.last), nil
	}
	hints = slices.DeleteFunc(hints, func(hint string) bool { return slices.Contains(l.told, "hint: "+hint) })
	hint := strings.TrimSuffix(strings.Join(hints, " "), ".")
	if hint != "" {
		hint += "; "
	}
	hint += "see what keeps it back: " +
		strings.Join(append([]string{fault.Command("berth", "diagnose", workspace)}, flags...), " ")
	message := strings.TrimSuffix(strings.TrimSpace("workspace "+workspace+" cannot be entered: "+why), ":")
	return fault.New(fault.Failed, "%s", message).WithHint("%s", hint)
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

// maxSaid is how much of what a command says is passed on, in bytes.
const maxSaid = 4 << 10
