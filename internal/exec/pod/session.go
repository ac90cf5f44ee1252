package pod

import (
	"cmp"
	"context"
	_ "embed"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/berthdev/berth/internal/exec"
	"github.com/berthdev/berth/internal/fault"
)

//go:embed session.sh
var sessionScript string

// Line is the command that runs a line in the user's shell, in the home directory; without a line, the shell as a login
// shell. The variables are set before, and the terminal has its size, if it is known.
func (l Login) Line(line string, env []string, rows, columns int) []string {
	inner := []string{
		"/bin/sh", "-c", uncommented(sessionScript), "sh", strconv.Itoa(rows), strconv.Itoa(columns), line,
	}
	if len(env) > 0 {
		inner = slices.Concat([]string{"env"}, env, inner)
	}
	return append(l.script(cmp.Or(l.User, l.Own)), inner...)
}

// Announced runs a command of Shell or Line, and calls found with the ID of its process as soon as it has begun: that
// is said on its terminal, or on stderr if it has none, so that its output is what the command writes.
func Announced(ctx context.Context, run exec.Runner, command []string, s exec.Session, found func(pid int)) (int,
	error,
) {
	var out *announced
	if s.TTY {
		out = &announced{out: s.Stdout, found: found}
		s.Stdout = out
	} else {
		out = &announced{out: s.Stderr, found: found}
		s.Stderr = out
	}
	command = slices.Clone(command)
	if s.TTY {
		command[2] = announce + " 2>/dev/null\n" + command[2]
	} else {
		command[2] = announce + " >&2\n" + command[2]
	}
	status, err := run(ctx, command, s)
	out.flush()
	return status, err
}

// Accompany hangs the shell of a process up when the context ends, however this process does. See HungUp.
func Accompany(ctx context.Context, run exec.Runner, pid int) { accompany(ctx, run, pid) }

// Signal sends a signal to the process group of a command that was announced, or to the process alone if it has none.
func Signal(ctx context.Context, run exec.Runner, pid int, signal string) error {
	said := exec.Beginning{Max: 1000}
	status, err := run(ctx, []string{
		"/bin/sh", "-c", `kill -s "$1" -- "-$2" 2>/dev/null || kill -s "$1" "$2"`, "sh", signal, strconv.Itoa(pid),
	}, exec.Session{Stdout: io.Discard, Stderr: &said})
	if err == nil && status != 0 {
		err = fault.New(fault.Failed, "cannot send %s: %s", signal, strings.TrimSpace(said.String()))
	}
	return err
}

// Theirs runs commands as the user of the shell.
func (l Login) Theirs(run exec.Runner) exec.Runner {
	return func(ctx context.Context, command []string, s exec.Session) (int, error) {
		return run(ctx, append(l.script(cmp.Or(l.User, l.Own)), command...), s)
	}
}
