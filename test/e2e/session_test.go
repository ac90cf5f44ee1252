//go:build e2e

package e2e

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/signal"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"

	remote "github.com/berthdev/berth/internal/exec"
	podexec "github.com/berthdev/berth/internal/exec/pod"
	"github.com/berthdev/berth/internal/kube"
)

// processes are those of a workspace.
func (w *world) processes(user string) string {
	w.Helper()
	return w.must(0, "exec", user, "--", "ps", "-o", "pid,args").stdout
}

// At a terminal the far side follows its size, full-screen programs work, and keys do what
// they do in a local shell.
func TestSessionAtATerminal(t *testing.T) {
	w := newWorld(t)
	w.must(0, "provision", "alice~plain")
	at := w.sit(w.command("exec", "alice~plain"))
	at.sees("# ")
	at.types("stty size\n")
	at.sees("24 80")
	at.resizes(33, 101)
	at.types("until stty size | grep '33 101'; do sleep 0.1; done\n")
	at.sees("33 101\r\n")

	at.types("vi /tmp/note\n")
	at.sees("\x1b[") // it draws
	at.sees("~")
	at.types("ia line")
	at.sees("a line")
	at.types("\x1b") // which may begin the sequence of a key
	at.sees("- /tmp/note [Modified]")
	at.types(":wq\r")
	at.sees("# ")
	at.types("cat /tmp/note; echo end-$((1+1))\n")
	at.sees("a line")
	at.sees("end-2")

	at.types("echo begin-$((1+1)); sleep 1000\n")
	at.sees("begin-2")
	at.types("\x03") // Ctrl-C
	at.sees("^C")
	at.sees("# ")
	at.types("echo status-$?\n")
	at.sees("status-130")

	at.types("echo begin-$((1+2)); sleep 2000\n")
	at.sees("begin-3")
	w.eventually("it sleeps", func() bool { return strings.Contains(w.processes("alice~plain"), "sleep 2000") })
	at.types("\x1a") // Ctrl-Z
	at.sees("Stopped")
	at.types("kill -9 %1; wait; echo killed-$((2+1))\n")
	at.sees("killed-3")

	at.types("sh -c 'echo end-$((1+3)); exit 4'\n")
	at.sees("end-4")
	at.sees("# ")
	at.types("\x04") // Ctrl-D
	at.ends(4)
}

// The status of the command is berth's, and what a signal ended has the shell's.
func TestSessionStatus(t *testing.T) {
	w := newWorld(t)
	w.must(0, "provision", "alice~plain")
	for script, status := range map[string]int{
		"exit 0": 0, "exit 1": 1, "exit 125": 125, "exit 255": 255,
		"kill -TERM $$": 143, "kill -KILL $$": 137, "kill -INT $$": 130,
	} {
		r := w.must(status, "exec", "alice~plain", "--", "sh", "-c", script)
		if strings.HasPrefix(r.stderr, "waiting for the API server") { // it is busy
			_, r.stderr, _ = strings.Cut(r.stderr, "\n")
		}
		if r.stderr != "" {
			t.Errorf("%s is explained: %q", script, r.stderr)
		}
	}
}

// size is how much a session has to carry.
const size = 1 << 30

// 1 GiB there and back arrives as it was sent.
func TestSessionCarriesAGibibyte(t *testing.T) {
	w := newWorld(t)
	w.must(0, "provision", "alice~plain")
	random := func() io.Reader { return io.LimitReader(rand.NewChaCha8([32]byte{7}), size) }
	want, got := sha256.New(), sha256.New()
	if _, err := io.Copy(want, random()); err != nil {
		t.Fatal(err)
	}
	command := w.command("exec", "-i", "alice~plain", "--", "cat")
	command.Stdin, command.Stdout = random(), got
	if err := command.Run(); err != nil {
		t.Fatal(err)
	}
	if a, b := want.Sum(nil), got.Sum(nil); !bytes.Equal(a, b) {
		t.Errorf("sent %x, got %x", a, b)
	}
}

// 50 sessions at once, each with its own bytes.
func TestManySessions(t *testing.T) {
	w := newWorld(t)
	w.must(0, "provision", "alice~plain")
	var group sync.WaitGroup
	for i := range 50 {
		text := strings.Repeat(fmt.Sprintf("session %d\n", i), 1000)
		command := w.command("exec", "-i", "alice~plain", "--", "sh", "-c", "cat; exit "+fmt.Sprint(i))
		command.Stdin = strings.NewReader(text)
		group.Go(func() {
			if r := w.finish(command); r.status != i || r.stdout != text {
				t.Errorf("session %d: status %d, %d bytes of %d, %q", i, r.status, len(r.stdout), len(text), r.stderr)
			}
		})
	}
	group.Wait()
}

// A session that ends leaves no process in the pod, whatever becomes of its berth: a shell
// at a terminal is hung up, as is what runs in it, and what reads its input gets its end.
func TestSessionLeavesNoProcess(t *testing.T) {
	// Under nohup berth would ignore this signal: one that is caught here it does not.
	caught := make(chan os.Signal, 1)
	signal.Notify(caught, syscall.SIGHUP)
	t.Cleanup(func() { signal.Stop(caught) })
	w := newWorld(t)
	w.must(0, "provision", "alice~plain+user=dev")
	processes := func() string { return w.processes("alice~plain") }
	before := processes()
	for seconds, end := range map[string]func(at *typist){
		"sleep 1001": func(at *typist) { // Ctrl-Z
			at.types("\x1a")
			at.sees("Stopped")
			at.types("kill -9 %1; exit\nexit\n")
			at.ends(0)
		},
		"sleep 1002": func(at *typist) { // Ctrl-D
			at.types("\x03")
			at.sees("^C")
			at.sees("$ ")
			at.types("\x04")
			at.ends(130)
		},
		// the terminal is closed
		"sleep 1003": func(at *typist) { _ = at.cmd.Process.Signal(syscall.SIGHUP); at.ends(-1) },
		"sleep 1004": func(at *typist) { _ = at.cmd.Process.Signal(syscall.SIGTERM); at.ends(143) },
		"sleep 1005": func(at *typist) { _ = at.cmd.Process.Kill(); at.ends(-1) },
	} {
		at := w.sit(w.command("exec", "alice~plain"))
		at.sees("$ ")
		w.eventually("its shell is watched", func() bool { return strings.Contains(processes(), "berth-hangup") })
		at.types(seconds + "\n")
		w.eventually("it sleeps", func() bool { return strings.Contains(processes(), seconds) })
		end(at)
	}
	in, out := io.Pipe()
	command := w.command("exec", "-i", "alice~plain", "--", "sh", "-c", "cat; : reads 27182")
	command.Stdin = in
	run := w.launch(command)
	if _, err := io.WriteString(out, "begun\n"); err != nil {
		t.Fatal(err)
	}
	w.eventually("it reads", func() bool { return strings.Contains(run.stdout.String(), "begun") })
	run.signal(syscall.SIGKILL)
	_ = out.Close()
	run.wait()
	count := func(text string) int { return strings.Count(text, "\n") }
	now := ""
	w.eventually("all have ended", func() bool { now = processes(); return count(now) <= count(before) })
	if strings.Contains(now, "sleep 100") || strings.Contains(now, "reads") || strings.Contains(now, "sh -l") ||
		strings.Contains(now, "berth-hangup") {
		t.Errorf("left:\n%s", now)
	}
}

// Sessions leave no goroutine, and so no connection, whether they end or are given up.
func TestSessionLeavesNoGoroutine(t *testing.T) {
	w := newWorldAlone(t)
	w.must(0, "provision", "alice~plain")
	client := &kube.Client{Interface: w.Interface, Config: w.config, Namespace: w.namespace}
	session := func(ctx context.Context, command ...string) {
		_, _ = podexec.Run(ctx, client, podexec.Request{
			Pod: w.idOf("alice~plain"), Container: "k8shell-main", Command: command,
			Session: remote.Session{Stdout: io.Discard, Stderr: io.Discard},
		})
	}
	session(t.Context(), "true") // what stays is there by then
	before := runtime.NumGoroutine()
	for range 20 {
		session(t.Context(), "true")
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			session(ctx, "sleep", "5")
		}()
		cancel()
		<-ended
	}
	w.eventually(fmt.Sprintf("there are %d goroutines again, not %d", before, runtime.NumGoroutine()),
		func() bool { return runtime.NumGoroutine() <= before+2 })
}
