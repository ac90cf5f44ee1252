package cmdutil

import (
	"context"

	"github.com/berthdev/berth/internal/exec"
	"github.com/berthdev/berth/internal/exec/pod"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/terminal"
)

// The exit statuses of exec's own failures, as container tools and shells have them, so that
// they are not taken for those of the command that it runs.
const (
	ExecFailed        = 125
	execNotExecutable = 126
	execNotFound      = 127
)

// ExecStatus is the exit status of a failure of exec's own: of a program that the container
// does not have, or cannot execute, that of a shell.
func ExecStatus(err error) int {
	switch fault.ReasonOf(err) {
	case pod.ReasonNotFound:
		return execNotFound
	case pod.ReasonNotExecutable:
		return execNotExecutable
	}
	return ExecFailed
}

// Session is a command that runs elsewhere, and how it is connected with the streams of
// this process.
type Session struct {
	IO      terminal.Streams
	Command []string // empty for the shell
	Stdin   bool     // is passed to the command; to what has a terminal, and to a shell, it always is
	Terminal
}

// Terminal says whether a command gets one. It does if this process has one for its input and
// its output, unless told otherwise.
type Terminal struct {
	Always, Never bool
}

func (t Terminal) wanted(io terminal.Streams) bool {
	return t.Always || !t.Never && io.In.TTY && io.Out.TTY
}

// Run runs the command, or the shell, and ends as it does.
func (s Session) Run(ctx context.Context, run exec.Runner, shell []string) error {
	status, err := s.stream(ctx, run, shell)
	if err == nil && status != 0 {
		err = ExitError(status)
	}
	return err
}

func (s Session) stream(ctx context.Context, run exec.Runner, shell []string) (status int, err error) {
	command, isShell := s.Command, len(s.Command) == 0
	if isShell {
		command = shell
	}
	session := exec.Session{Stdout: s.IO.Out, Stderr: s.IO.Err, TTY: s.wanted(s.IO)}
	if s.Stdin || isShell || session.TTY && !s.Always {
		session.Stdin = s.IO.In.Reader
	}
	if session.TTY {
		restore, sizes, err := terminal.Raw(s.IO.In, s.IO.Out)
		if err != nil {
			return 0, err
		}
		defer restore()
		s.IO.AtExit(restore)
		session.Sizes = sizes
	}
	return run(ctx, command, session)
}
