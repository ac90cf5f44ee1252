package server

import (
	"context"
	"io"
	"strings"
	"testing"

	"github.com/berthdev/berth/internal/exec"
	"github.com/berthdev/berth/internal/exec/pod"
)

// Beside a shell at a terminal runs what hangs it up, until the session ends; beside a command,
// and without a terminal, there is none.
func TestShellIsWatched(t *testing.T) {
	for name, c := range map[string]struct {
		command []string
		session exec.Session
		watched bool
	}{
		"a shell":                    {nil, exec.Session{TTY: true, Stdout: io.Discard}, true},
		"a shell without a terminal": {nil, exec.Session{Stdout: io.Discard}, false},
		"a shell that says nothing":  {nil, exec.Session{TTY: true}, false},
		"a command":                  {[]string{"/bin/sh", "-c", "top", "sh"}, exec.Session{TTY: true, Stdout: io.Discard}, false},
	} {
		t.Run(name, func(t *testing.T) {
			watching, ended := make(chan string, 1), make(chan struct{})
			run := func(ctx context.Context, command []string, s exec.Session) (int, error) {
				if command[3] == "berth-hangup" {
					defer close(ended)
					watching <- command[4]
					<-ctx.Done()
					return 0, ctx.Err()
				}
				if strings.Contains(command[2], "berth-pid") != c.watched {
					t.Errorf("%q is run", command[2])
				}
				if c.watched {
					_, _ = io.WriteString(s.Stdout, "\x1b_berth-pid 42\x1b\\$ ")
					if pid := <-watching; pid != "42" {
						t.Errorf("%s is watched", pid)
					}
				}
				return 3, nil
			}
			status, err := withShell(run, pod.Shell("", ""), &buffers{})(t.Context(), c.command, c.session)
			if status != 3 || err != nil {
				t.Errorf("%d, %v", status, err)
			}
			if c.watched {
				<-ended
			}
		})
	}
}
