//go:build e2e

package e2e

import (
	"errors"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// follower is a running `berth logs -f`; what it prints can be read meanwhile.
type follower struct {
	w              *world
	cmd            *exec.Cmd
	stdout, stderr lockedBuffer
	ended          chan error
}

func (w *world) follow(args ...string) *follower {
	w.Helper()
	return w.followWith(w.command(append([]string{"logs", "--follow"}, args...)...))
}

func (w *world) followWith(cmd *exec.Cmd) *follower {
	w.Helper()
	f := &follower{w: w, cmd: cmd, ended: make(chan error, 1)}
	f.cmd.Stdout, f.cmd.Stderr = &f.stdout, &f.stderr
	if err := f.cmd.Start(); err != nil {
		w.Fatal(err)
	}
	w.Cleanup(func() { _ = f.cmd.Process.Kill() })
	go func() { f.ended <- f.cmd.Wait() }()
	return f
}

func (f *follower) waitFor(words string) {
	f.w.Helper()
	f.w.eventually("the log has "+words, func() bool { return strings.Contains(f.stdout.String(), words) })
}

// end waits for the end and gives the exit status.
func (f *follower) end() int {
	f.w.Helper()
	select {
	case err := <-f.ended:
		if exit, ok := errors.AsType[*exec.ExitError](err); ok {
			return exit.ExitCode()
		}
		return 0
	case <-time.After(patience):
		f.w.Fatalf("still running; stdout:\n%s\nstderr:\n%s", f.stdout.String(), f.stderr.String())
		return -1
	}
}

func (f *follower) interrupt() int {
	f.w.Helper()
	if err := f.cmd.Process.Signal(syscall.SIGINT); err != nil {
		f.w.Fatal(err)
	}
	return f.end()
}

// What the init scripts say is in the log, and can be had in parts.
func TestLogs(t *testing.T) {
	w := newWorld(t)
	w.must(0, "provision", "alice~dev")
	all := w.must(0, "logs", "alice~dev").stdout
	w.contains(all, "broken")
	if byID := w.must(0, "logs", "id/"+w.idOf("alice~dev")).stdout; byID != all {
		t.Errorf("by its ID:\n%s\nwant\n%s", byID, all)
	}
	if n := strings.Count(w.must(0, "logs", "alice~dev", "--tail", "1").stdout, "\n"); n != 1 {
		t.Errorf("--tail 1 gives %d lines", n)
	}
	stamped := w.must(0, "logs", "alice~dev", "--timestamps", "--tail", "1").stdout
	if _, err := time.Parse(time.RFC3339Nano, strings.Fields(stamped)[0]); err != nil {
		t.Errorf("no time: %q", stamped)
	}
	w.contains(w.must(0, "logs", "alice~dev", "--all-containers", "--since", "1h").stdout, "[k8shell-main] ")

	r := w.must(7, "logs", "alice~dev", "-c", "nope")
	w.contains(r.stderr, `no container "nope"`, "its containers are: k8shell-main", "NOT_FOUND")
	r = w.must(7, "logs", "alice~dev", "--previous")
	w.contains(r.stderr, "has not been restarted")
	w.contains(w.must(7, "logs", "alice~plain").stderr, "not found in namespace", "NOT_FOUND")
}

// Following ends with Ctrl-C, which is not an error, or with the container.
func TestLogsAreFollowed(t *testing.T) {
	w := newWorld(t)
	provisioning := w.start("provision", "alice~busy")
	w.eventually("the pod is there", func() bool { return w.pod(w.idOf("alice~busy")) != nil })
	early, prefixed := w.follow("alice~busy"), w.follow("alice~busy", "--all-containers")
	provisioning.wait().mustBe(w, 0)
	const word = "said-while-followed"
	w.must(0, "exec", "alice~busy", "--", "sh", "-c", "echo "+word+" > /proc/1/fd/1")
	early.waitFor(word)
	prefixed.waitFor("[k8shell-main] " + word)
	if status := early.interrupt(); status != 130 || early.stderr.String() != "" {
		t.Errorf("exit status %d, stderr %q; want 130 and nothing", status, early.stderr.String())
	}
	w.must(0, "delete", "alice~busy")
	if status := prefixed.end(); status != 0 {
		t.Errorf("exit status %d when the container had ended: %s", status, prefixed.stderr.String())
	}
}

// A container that has not started has no log; -f waits, until the pod is gone.
func TestLogsOfWhatHasNotStarted(t *testing.T) {
	w := newWorld(t)
	w.must(0, "provision", "alice~huge", "--no-wait")
	r := w.must(3, "logs", "alice~huge")
	w.contains(r.stderr, "k8shell-main", "has not started yet: ", "-f waits")

	cmd, to := w.command("logs", "--follow", "alice~huge"), &asked{}
	cmd.Env = append(cmd.Env, "KUBECONFIG="+w.record(to, ""))
	waiting, ended := w.followWith(cmd), w.follow("alice~huge")
	w.eventually("it waits", func() bool { return to.has("watch pods") })
	if status := waiting.interrupt(); status != 130 || waiting.stderr.String() != "" {
		t.Errorf("exit status %d, stderr %q; want 130 and nothing", status, waiting.stderr.String())
	}
	if err := w.CoreV1().Pods(w.namespace).Delete(w.Context(), w.idOf("alice~huge"),
		metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	if status := ended.end(); status != 7 {
		t.Errorf("exit status %d when the pod was gone: %s", status, ended.stderr.String())
	}
}

// The log of what has failed is not waited for.
func TestLogsOfWhatHasFailed(t *testing.T) {
	w := newWorld(t)
	w.must(3, "provision", "alice~wrong-tag")
	r := w.must(3, "logs", "--follow", "alice~wrong-tag")
	w.contains(r.stderr, "container k8shell-main", "does not start: ", "no-such-tag not found",
		"see what to do: berth status ")
}

// What a container said before it was restarted can still be read.
func TestLogsOfTheInstanceBefore(t *testing.T) {
	w := newWorld(t)
	w.must(3, "provision", "alice~crashing")
	// While the node exchanges the one for the other it has none for a moment.
	w.eventually("the log of the instance before", func() bool {
		r := w.berth("logs", "alice~crashing", "--previous")
		return r.status == 0 && strings.Contains(r.stdout, "nodenv: not found")
	})
}
