package pod

import (
	"context"
	_ "embed"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/berthdev/berth/internal/exec"
)

//go:embed hangup.sh
var hangupScript string

const (
	// grace is how long a shell goes on without its watch: one that was only lost is
	// started again meanwhile.
	grace = 10 * time.Second
	// retry is how long a lost watch waits until it is started again.
	retry = time.Second
	// sign is how often a watch gets a sign of life. Servers end connections on which
	// nothing is sent, most often after four hours.
	sign = 10 * time.Minute
)

// HungUp runs shells so that they end with this process, however it ends. A container
// runtime keeps the terminal of a shell open when its client is gone, so that the shell
// does not notice; but it closes the standard input of a command without a terminal. So
// beside a shell with a terminal runs a script that waits for the end of its input, and
// then hangs the shell up. If that cannot run, the session goes on without it.
func HungUp(run exec.Runner) exec.Runner {
	return func(ctx context.Context, command []string, s exec.Session) (int, error) {
		if !s.TTY {
			return run(ctx, command, s)
		}
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		out := &announced{out: s.Stdout, found: func(pid int) { go accompany(ctx, run, pid) }}
		s.Stdout = out
		status, err := run(ctx, announcing(command), s)
		out.flush()
		return status, err
	}
}

// accompany runs the script beside a shell until the context ends, and again when it is lost.
func accompany(ctx context.Context, run exec.Runner, pid int) {
	var old []string // how the last one called itself
	for {
		said := exec.Beginning{Max: 100}
		lost := make(chan struct{})
		_, err := run(ctx, hangup(pid, grace, old),
			exec.Session{Stdin: &signs{every: sign, end: lost}, Stdout: &said, Stderr: io.Discard})
		close(lost)
		if now := strings.Fields(said.String()); len(now) == 2 {
			old = now
		}
		if err == nil || old == nil {
			return // the shell has ended, or there is no such thing as this watch in the container
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(retry):
		}
	}
}

// hangup is the command that watches a shell.
func hangup(pid int, grace time.Duration, old []string) []string {
	return append([]string{
		"/bin/sh", "-c", uncommented(hangupScript), "berth-hangup", strconv.Itoa(pid),
		strconv.Itoa(int(grace.Seconds())),
	}, old...)
}

// signs is an input with an empty line now and then, until its end.
type signs struct {
	every time.Duration
	end   <-chan struct{}
}

// Read implements io.Reader.
func (s *signs) Read(p []byte) (int, error) {
	select {
	case <-s.end:
		return 0, io.EOF
	case <-time.After(s.every):
		return copy(p, "\n"), nil
	}
}
