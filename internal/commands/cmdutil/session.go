package cmdutil

import (
	"context"

	"github.com/berthdev/berth/internal/exec"
	"github.com/berthdev/berth/internal/terminal"
)

// ExecFailed is the exit status of exec's own failures, as container tools have it, so
// that they are not taken for those of the command that it runs.
const ExecFailed = 125

// Session is a command that runs elsewhere, and how it is connected with the streams of
// this process.
type Session struct {
	IO      terminal.Streams
	Command []string // empty for the shell
	Stdin   bool     // is passed to the command; to a shell it always is
	TTY     bool     // for the command; a shell has one if this process has
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
	session := exec.Session{Stdout: s.IO.Out, Stderr: s.IO.Err, TTY: s.TTY || isShell && s.IO.In.TTY && s.IO.Out.TTY}
	if s.Stdin || isShell {
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
