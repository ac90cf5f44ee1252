//go:build unix

package sshd_test

import (
	"context"
	"errors"
	"io"
	"testing"

	"golang.org/x/crypto/ssh"

	"github.com/berthdev/berth/internal/exec"
	"github.com/berthdev/berth/internal/exec/sshd"
)

// terminal is a shell at a terminal of a client.
type terminal struct {
	*ssh.Session
	in  io.Writer
	out io.Reader
}

func newTerminal(t *testing.T, client *ssh.Client) terminal {
	t.Helper()
	s, err := client.NewSession()
	if err != nil {
		t.Fatal(err)
	}
	if err := s.RequestPty("xterm", 24, 80, nil); err != nil {
		t.Fatal(err)
	}
	in, inErr := s.StdinPipe()
	out, outErr := s.StdoutPipe()
	if err := errors.Join(inErr, outErr, s.Shell()); err != nil {
		t.Fatal(err)
	}
	return terminal{s, in, out}
}

func (s terminal) types(keys string) { _, _ = io.WriteString(s.in, keys) }

// end is the exit status, and what was written.
func (s terminal) end() (status int, out string) {
	text, _ := io.ReadAll(s.out)
	if ended, ok := errors.AsType[*ssh.ExitError](s.Wait()); ok {
		status = ended.ExitStatus()
	}
	return status, string(text)
}

// While a workspace is waited for, Ctrl-C ends the session. What else is typed meanwhile is for the shell, as is Ctrl-C
// once that runs.
func TestTypedAhead(t *testing.T) {
	for name, c := range map[string]struct {
		before, after string
		forever       bool
		status        int
		want          string
	}{
		"Ctrl-C":                {before: "\x03", forever: true, status: 130},
		"Ctrl-C behind others":  {before: "ls\r\x03", forever: true, status: 130},
		"keys":                  {before: "ls\r", want: "ls\r"},
		"keys, and later keys":  {before: "l", after: "s\r", want: "ls\r"},
		"Ctrl-C for the shell":  {after: "s\x03\r", want: "s\x03\r"},
		"keys, and then Ctrl-C": {before: "l", after: "\x03\r", want: "l\x03\r"},
	} {
		t.Run(name, func(t *testing.T) {
			ready, runs := make(chan struct{}), make(chan struct{})
			var p sshd.Place
			p.Run = func(_ context.Context, _ sshd.Command, s exec.Session) (int, error) {
				close(runs)
				got := make([]byte, len(c.want))
				_, err := io.ReadFull(s.Stdin, got)
				_, _ = s.Stdout.Write(got)
				return 0, err
			}
			client := connect(t, func(ctx context.Context, _ string, _ func(string)) (sshd.Place, error) {
				select {
				case <-ready:
					return p, nil
				case <-ctx.Done():
					return p, context.Cause(ctx)
				}
			})
			s := newTerminal(t, client)
			s.types(c.before)
			if !c.forever {
				close(ready)
				<-runs
				s.types(c.after)
			}
			if status, out := s.end(); status != c.status || out != c.want {
				t.Errorf("status %d, %q; want %d, %q", status, out, c.status, c.want)
			}
		})
	}
}
