package copy

import (
	"context"
	_ "embed"
	"io"
	"slices"
	"strings"

	"github.com/berthdev/berth/internal/exec"
	"github.com/berthdev/berth/internal/fault"
)

//go:embed scripts/receive.sh
var receiveScript string

//go:embed scripts/send.sh
var sendScript string

//go:embed scripts/occupied.sh
var occupiedScript string

// script is a command that runs a script of this package.
func script(text string, args ...string) []string {
	return append([]string{"sh", "-c", text, "berth-cp"}, args...)
}

// Vacant returns an error if something is at a path at the other end: anything but an empty directory.
func Vacant(ctx context.Context, run exec.Runner, path string) error {
	e := ended(ctx, run, script(occupiedScript, path), exec.Session{Stdout: io.Discard})
	if e.err == nil && e.status == statusConflict {
		return occupied(path)
	}
	_, err := e.failure(path)
	return err
}

func occupied(path string) error {
	return fault.New(fault.AlreadyExists, "%s is not empty", path).
		WithHint("choose another directory, or replace the files that are there with --overwrite")
}

// The statuses with which the scripts end, beside those of tar and the shell.
const (
	statusRefused    = 125 // of what starts them: they do not run as the user who was asked for
	statusNoProgram  = 91
	statusNotFound   = 92
	statusConflict   = 93
	statusNoStaging  = 94
	statusTar        = 95
	statusIncomplete = 96
	statusMove       = 97
	statusUnreadable = 98
)

// ending is how a script at the other end has ended.
type ending struct {
	status int
	err    error
	stderr exec.Beginning
}

// ended runs a command to its end.
func ended(ctx context.Context, run exec.Runner, command []string, s exec.Session) *ending {
	e := &ending{stderr: exec.Beginning{Max: maxComplaints}}
	s.Stderr = &e.stderr
	e.status, e.err = run(ctx, command, s)
	return e
}

// failure says what the ending means: nil if all is well, with what is worth knowing. While something is sent, a
// failure of tar has a status of the script's, and to is where it goes; otherwise to is empty.
func (e *ending) failure(to string) (warnings []string, failed error) {
	lines := linesOf(e.stderr.String())
	switch {
	case e.err != nil && fault.CodeOf(e.err) == fault.InvalidArgument:
		return nil, fault.New(fault.Failed, "the container has no sh: %w", e.err).
			WithHint("berth cp needs sh and tar in the container: use an image that has them")
	case e.err != nil:
		return nil, e.err
	case e.status == 0:
		return lines, nil
	}
	switch e.status {
	case statusRefused:
		return nil, fault.New(fault.Failed, "%s", strings.TrimPrefix(strings.Join(lines, "; "), "berth: "))
	case statusNoProgram:
		return nil, fault.New(fault.Failed, "the container has no %s",
			strings.Join(strings.Fields(strings.Join(lines, " ")), ", ")).
			WithHint("berth cp needs sh and tar in the container: use an image that has them")
	case statusNotFound:
		return nil, fault.New(fault.NotFound, "%s", strings.Join(lines, "; "))
	case statusConflict:
		return nil, problems(fault.Conflict, "nothing was copied", lines)
	case statusIncomplete:
		return nil, fault.New(fault.Unavailable, "the connection was lost before all was sent; nothing was copied").
			WithHint("try again")
	case statusNoStaging, statusMove, statusTar:
		return nil, problems(fault.Failed, "cannot write to "+to+" in the container", lines)
	case statusUnreadable:
		return nil, problems(fault.Failed, "cannot read in the container", lines)
	}
	if to == "" && e.status == 1 && len(lines) > 0 && !slices.ContainsFunc(lines, isLoss) {
		return lines, nil // GNU tar's status for files that have changed meanwhile
	}
	return nil, problems(fault.Failed, "cannot read in the container", lines)
}

// isLoss is true for what tar says of a file that it could not read as a whole.
func isLoss(line string) bool {
	return !strings.HasSuffix(line, "file changed as we read it") &&
		!strings.HasSuffix(line, "File removed before we read it")
}

// problems is one error for what was said.
func problems(code fault.Code, message string, lines []string) error {
	lines = slices.DeleteFunc(lines, func(line string) bool {
		return strings.Contains(line, "Exiting with failure status due to previous errors") ||
			strings.Contains(line, "Error is not recoverable") ||
			strings.Contains(line, "error exit delayed from previous errors")
	})
	switch len(lines) {
	case 0:
		return fault.New(code, "%s", message)
	case 1:
		return fault.New(code, "%s: %s", message, lines[0])
	}
	err := fault.New(code, "%s: %d problems", message, len(lines))
	err.Problems = lines
	return err
}

// maxComplaints is how much is kept of what the other end complains, in bytes.
const maxComplaints = 1 << 20

// linesOf are the lines of a text that say something.
func linesOf(text string) (lines []string) {
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line != "" {
			lines = append(lines, fault.Line(line))
		}
	}
	return lines
}
