//go:build e2e

package e2e

import (
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"
	"github.com/creack/pty"
)

// At a terminal: the live view to its end, a shell with a terminal of its own
// whose size becomes the real one, and the shell's exit status.
func TestAtATerminal(t *testing.T) {
	w := newWorld(t)
	out, status := w.terminal(w.command("provision", "alice~plain"), "")
	if status != 0 {
		t.Fatalf("exit status %d:\n%s", status, out)
	}
	w.contains(ansi.Strip(out), "alice~plain → ", "✔ identity     alice, from kubernetes", "✔ install", "Starting",
		"✔ Running in", "berth exec alice~plain")
	if i, j := strings.LastIndex(out, "\x1b[?25l"), strings.LastIndex(out, "\x1b[?25h"); j < i {
		t.Error("the cursor is not given back")
	}

	out, status = w.terminal(w.command("exec", "alice~plain", "--", "sh"),
		"tty; until stty size | grep '33 101'; do sleep 0.1; done; echo marker-$((40+2)); exit 9\n")
	if status != 9 {
		t.Errorf("exit status %d:\n%s", status, out)
	}
	w.contains(out, "/dev/pts/", "33 101", "marker-42")
	const terminals = "for n in 0 1 2; do test -t $n && echo terminal-$n; done; echo"
	for _, c := range []struct{ flag, want string }{
		{"-it", "terminal-0terminal-1terminal-2"}, {"-t", "terminal-0terminal-1terminal-2"}, {"-T", ""}, {"-iT", ""},
	} {
		out, status := w.terminal(w.command("exec", c.flag, "alice~plain", "--", "sh", "-c", terminals), "")
		out = slowAnswers.ReplaceAllString(ansi.Strip(out), "")
		if got := strings.Join(strings.Fields(out), ""); status != 0 || got != c.want {
			t.Errorf("with %s there are %q, want %q (status %d)", c.flag, got, c.want, status)
		}
	}
	if got := w.must(125, "exec", "-t", "alice~plain", "--", "true").stderr; !strings.Contains(got, "leave out -t") {
		t.Errorf("-t without a terminal says %q", got)
	}
}

// exec passes input, output and status through.
func TestExec(t *testing.T) {
	w := newWorld(t)
	w.must(0, "provision", "alice~plain")
	cmd := w.command("exec", "-i", "alice~plain", "--", "sh", "-c", "cat; echo on stderr >&2; exit 4")
	cmd.Stdin = strings.NewReader("through and through")
	r := w.finish(cmd)
	if r.status != 4 || r.stdout != "through and through" || r.stderr != "on stderr\n" {
		t.Errorf("%+v", r)
	}
	shell := w.command("exec", "alice~plain")
	shell.Stdin = strings.NewReader("echo from the shell\n")
	if r := w.finish(shell); r.status != 0 || r.stdout != "from the shell\n" {
		t.Errorf("without a command: %+v", r)
	}
	w.contains(w.must(125, "exec", "bob", "--", "true").stderr, "NOT_FOUND")
	w.contains(w.must(127, "exec", "alice~plain", "--", "no-such-program").stderr,
		`program "no-such-program" not found`)
	w.contains(w.must(127, "exec", "alice~plain", "--", "/no/such/program").stderr,
		`program "/no/such/program" not found`)
	w.contains(w.must(126, "exec", "alice~plain", "--", "/etc").stderr, `"/etc" in workspace `)
	w.contains(w.must(126, "exec", "alice~plain", "--", "/etc/passwd").stderr, "cannot be executed: permission denied")
	w.contains(w.must(125, "exec", "alice~plain", "sh", "-c", "true").stderr, "berth exec alice~plain -- sh,")
	run := w.start("exec", "alice~plain", "--", "sh", "-c", "echo at work >&2; sleep 60")
	run.waitFor("at work")
	run.signal(os.Interrupt)
	interrupted := run.wait()
	interrupted.mustBe(w, 130)
	if n := strings.Count(interrupted.stderr, "\n"); n > 2 {
		t.Errorf("an interruption is reported in %d lines:\n%s", n, interrupted.stderr)
	}
	if r := w.must(126, "exec", "alice~plain", "--", "sh", "-c", "exit 126"); r.stderr != "" {
		t.Errorf("the command's own status is explained: %q", r.stderr)
	}
}

// terminal runs a command in a terminal of 33 by 101 and types into it.
func (w *world) terminal(cmd *exec.Cmd, input string) (string, int) {
	w.Helper()
	cmd.Env = append(cmd.Env, "TERM=xterm-256color", "LANG=C.UTF-8", "LC_ALL=C.UTF-8", "CI=", "NO_COLOR=")
	tty, err := pty.StartWithSize(cmd, &pty.Winsize{Rows: 33, Cols: 101})
	if err != nil {
		w.Fatal(err)
	}
	defer tty.Close()
	if _, err := tty.WriteString(input); err != nil {
		w.Fatal(err)
	}
	timer := time.AfterFunc(patience, func() { _ = cmd.Process.Kill() })
	defer timer.Stop()
	out, _ := io.ReadAll(tty) // ends with an error when the other side is closed
	_ = cmd.Wait()
	return string(out), cmd.ProcessState.ExitCode()
}
