//go:build e2e

package e2e

import (
	"os/exec"
	"syscall"
	"testing"

	"github.com/berthdev/berth/internal/skiptest"
)

// A shell that is kept outlives a client that is killed, with what runs in it: the next client is in it again, at the
// size of its own terminal, and so are several at a time.
func TestExecKeep(t *testing.T) {
	h := newWorld(t).ssh("alice~plain")
	enter := func() *typist { return h.sit(h.command("exec", h.user, "--keep")) }
	h.contains(enter().ends(125), "cannot keep a shell: the image has none of tmux, screen or python3")
	h.contains(h.must(125, "exec", h.user, "--keep").stderr, "--keep requires a terminal")
	for _, with := range []struct {
		program, leave string
		status         int // of one whose shell ends with 3
	}{{"python3", "\x1d", 3}, {"tmux", "\x02d", 0}} {
		t.Run(with.program, func(t *testing.T) {
			if _, err := exec.LookPath(with.program); err != nil {
				skiptest.Lacks(t, "%v", err)
			}
			h := *h
			h.world = h.of(t)
			h.tools(with.program)
			first := h.sit(h.command("exec", h.user, "--keep"))
			first.sees("# ")
			first.types("KEPT=yes; sleep 1009 & echo begun-$((40+2))\n")
			first.sees("begun-42")
			_ = first.cmd.Process.Signal(syscall.SIGKILL)
			<-first.read

			second := h.sit(h.command("exec", h.user, "--keep"))
			second.types("echo kept-$KEPT; kill -0 $! && echo runs-$((40+2))\n")
			second.sees("kept-yes")
			second.sees("runs-42")
			second.resizes(33, 101)
			second.types("until stty size | grep ' 101$'; do sleep 0.1; done; echo resized-$((40+2))\n")
			second.sees("resized-42")

			third := h.sit(h.command("exec", h.user, "--keep"))
			third.sees("resized-42") // what was shown before
			third.types("echo both-$((40+2))\n")
			third.sees("both-42")
			second.sees("both-42")
			third.types(with.leave)
			third.ends(0)

			second.types("kill $!; exit 3\n")
			second.ends(with.status)
			next := h.sit(h.command("exec", h.user, "--keep"))
			next.types("echo again-${KEPT:-no}\n")
			next.sees("again-no")
			next.types("exit\n")
			next.ends(0)
		})
	}
}
