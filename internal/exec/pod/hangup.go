package pod

import (
	"bytes"
	"context"
	_ "embed"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/berthdev/berth/internal/exec"
)

//go:embed hangup.sh
var hangupScript string

const (
	// grace is how long a shell goes on without its watch: one that was only lost is started again meanwhile.
	grace = 10 * time.Second
	// retry is how long a lost watch waits until it is started again.
	retry = time.Second
	// sign is how often a watch gets a sign of life. Servers end connections on which
	// nothing is sent, most often after four hours.
	sign = 10 * time.Minute
)

// HungUp runs shells so that they end with this process, however it ends. A container runtime keeps the terminal of a
// shell open when its client is gone, so that the shell does not notice; but it closes the standard input of a command
// without a terminal. So beside a shell with a terminal runs a script that waits for the end of its input, and then
// hangs the shell up. If that cannot run, the session goes on without it.
func HungUp(run exec.Runner) exec.Runner {
	return func(ctx context.Context, command []string, s exec.Session) (int, error) {
		if !s.TTY {
			return run(ctx, command, s)
		}
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		return Announced(ctx, run, command, s, func(pid int) { go accompany(ctx, run, pid) })
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

func (s *signs) Read(p []byte) (int, error) {
	select {
	case <-s.end:
		return 0, io.EOF
	case <-time.After(s.every):
		return copy(p, "\n"), nil
	}
}

// How a shell says which process it is, before all that it says: in a string that
// terminals ignore, should it ever get to one.
const (
	announceBegin = "\x1b_berth-pid "
	announceEnd   = "\x1b\\"
	announce      = `printf '\033_berth-pid %s\033\\' "$$"`
)

// announced takes the announcement out of what a shell says.
type announced struct {
	out   io.Writer
	found func(pid int)
	held  []byte // what may be the beginning of it
	done  bool
}

// maxAnnouncement is how long one is at most.
const maxAnnouncement = len(announceBegin) + 20 + len(announceEnd)

func (a *announced) Write(p []byte) (int, error) {
	if a.done {
		return a.out.Write(p)
	}
	text := slices.Concat(a.held, p)
	before, after, pid := partition(text)
	if a.held = nil; pid > 0 {
		a.done = true
		a.found(pid)
		before = append(before, after...)
	} else {
		a.held = bytes.Clone(after)
	}
	if len(before) > 0 {
		if _, err := a.out.Write(before); err != nil {
			return 0, err
		}
	}
	return len(p), nil
}

// flush writes what was taken for a beginning and was none.
func (a *announced) flush() {
	if len(a.held) > 0 {
		_, _ = a.out.Write(a.held)
		a.held = nil
	}
}

// partition gives what is before and after the announcement; without one, what is certainly none and what may become
// one.
func partition(text []byte) (before, after []byte, pid int) {
	at := bytes.Index(text, []byte(announceBegin))
	if at < 0 {
		n := min(len(text), len(announceBegin)-1)
		for !bytes.HasPrefix([]byte(announceBegin), text[len(text)-n:]) {
			n--
		}
		return text[:len(text)-n], text[len(text)-n:], 0
	}
	rest := text[at:]
	number, after, whole := bytes.Cut(rest[len(announceBegin):], []byte(announceEnd))
	pid, err := strconv.Atoi(string(number))
	switch {
	case whole && err == nil && pid > 0:
		return slices.Clone(text[:at]), after, pid
	case !whole && len(rest) < maxAnnouncement:
		return text[:at], rest, 0
	}
	return text, nil, 0
}
