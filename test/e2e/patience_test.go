//go:build e2e

package e2e

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// brokenAnswers breaks a share of the answers: 500s and resets, half of them after the
// request has been carried out.
func brokenAnswers(share float64, seed uint64) meddler {
	var mu sync.Mutex
	random := rand.New(rand.NewPCG(seed, seed))
	return func(out http.ResponseWriter, r *http.Request, next http.Handler) {
		mu.Lock()
		breaks, after, resets := random.Float64() < share, random.IntN(2) == 0, random.IntN(2) == 0
		mu.Unlock()
		if !breaks || r.Header.Get("Upgrade") != "" {
			next.ServeHTTP(out, r)
			return
		}
		if after && !isWatch(r) && r.URL.Query().Get("follow") == "" {
			next.ServeHTTP(httptest.NewRecorder(), r)
		}
		if resets {
			panic(http.ErrAbortHandler)
		}
		http.Error(out, "Internal error occurred: broken by a test", http.StatusInternalServerError)
	}
}

// With 30 % of the answers broken, 20 of 20 commands end well or say that the cluster
// cannot be reached, and nothing is left behind.
func TestChaosBrokenAnswers(t *testing.T) {
	w := newWorld(t)
	broken := brokenAnswers(0.3, dice(t).Uint64())
	for range 4 {
		isThere := false
		for _, args := range []string{
			"provision alice~plain --if-not-exists", "status alice~plain", "status",
			"logs alice~plain", "delete alice~plain --ignore-not-found",
		} {
			r := w.finish(w.through(strings.Fields(args), broken))
			if isThere = isThere || strings.HasPrefix(args, "provision") && r.status == 0; !isThere && r.status == 7 {
				continue // it could not be made
			}
			if r.status != 0 && (r.status != 8 || !strings.Contains(r.stderr, "UNAVAILABLE")) {
				t.Errorf("berth %s: exit status %d\n%s%s", args, r.status, r.stdout, r.stderr)
			}
		}
	}
	w.must(0, "delete", "alice~plain", "--ignore-not-found")
	if left := w.leftovers(); len(left) > 0 {
		t.Errorf("left behind: %s", left)
	}
}

// An API server that has too many requests for ever ends a command within its time,
// and is said to have them.
func TestChaosTooManyRequests(t *testing.T) {
	w := newWorld(t)
	refuse := func(out http.ResponseWriter, _ *http.Request, _ http.Handler) {
		out.Header().Set("Retry-After", "1")
		http.Error(out, "too many requests", http.StatusTooManyRequests)
	}
	for _, args := range []string{"provision alice~plain --timeout 5s", "delete alice~plain --timeout 5s", "status"} {
		begin := time.Now()
		r := w.finish(w.through(strings.Fields(args), refuse))
		r.mustBe(w, 8)
		w.contains(r.stderr, "too many requests", "UNAVAILABLE")
		if took := time.Since(begin); took > 30*time.Second {
			t.Errorf("berth %s took %s", args, took)
		}
	}
}

// A log that is followed goes on after the connection was lost: no line is missing and
// none comes twice. An exec cannot go on, and says so.
func TestConnectionLostWhileFollowing(t *testing.T) {
	w := newWorld(t)
	w.must(0, "provision", "alice~plain")
	var server outage
	command := w.through([]string{"exec", "alice~plain", "--", "sh", "-c", "echo begun; sleep 600"}, server.meddle)
	run := w.launch(command)
	run.waitForLine("begun")
	server.begin()
	r := run.wait()
	r.mustBe(w, 125)
	w.contains(r.stderr, "the connection to the API server was lost", "may still be running")
	server.end()

	var second outage
	run = w.launch(w.through([]string{"logs", "alice~plain", "--follow", "--timestamps"}, second.meddle))
	w.must(0, "exec", "alice~plain", "--", "sh", "-c", "for i in 1 2 3; do echo counted $i > /proc/1/fd/1; done")
	run.waitForLine("counted 3")
	second.begin()
	run.waitFor("connection lost, retrying")
	w.must(0, "exec", "alice~plain", "--", "sh", "-c", "for i in 4 5 6; do echo counted $i > /proc/1/fd/1; done")
	second.end()
	run.waitForLine("counted 6")
	run.signal(syscall.SIGINT)
	r = run.wait()
	for i := 1; i <= 6; i++ {
		if n := strings.Count(r.stdout, fmt.Sprintf("counted %d\n", i)); n != 1 {
			t.Errorf("counted %d is there %d times", i, n)
		}
	}
}

// A credential plugin that hangs keeps nothing from ending in time, nor by Ctrl-C, and
// is said to be waited for; it does not outlive the command.
func TestHangingPlugin(t *testing.T) {
	w := newWorld(t)
	kubeconfig := filepath.Join(t.TempDir(), "kubeconfig")
	text := fmt.Sprintf(`{apiVersion: v1, kind: Config, current-context: x,
clusters: [{name: x, cluster: {server: %q}}],
users: [{name: me, user: {exec: {apiVersion: client.authentication.k8s.io/v1, interactiveMode: Never,
  command: sleep, args: ["1000"]}}}],
contexts: [{name: x, context: {cluster: x, user: me}}]}`, w.limited.Host)
	if err := os.WriteFile(kubeconfig, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	hanging := func(args ...string) *exec.Cmd {
		command := w.command(args...)
		command.Env = append(command.Env, "KUBECONFIG="+kubeconfig)
		return command
	}
	for _, args := range []string{"provision alice~plain --timeout 3s", "delete alice~plain --timeout 3s"} {
		r := w.finish(hanging(strings.Fields(args)...)) // ends when nobody has its stderr any more
		r.mustBe(w, 5)
		w.contains(r.stderr, "waiting for the credential plugin sleep (user me of the kubeconfig)")
	}
	for _, args := range []string{
		"status", "status -o json", "logs alice~plain", "jobs", "provision alice~plain",
		"delete alice~plain",
	} {
		run := w.launch(hanging(strings.Fields(args)...))
		run.waitFor("waiting for the credential plugin")
		run.signal(syscall.SIGINT)
		run.wait().mustBe(w, 130)
	}
}

// What cannot be written is an error that names the stream; a reader that has read
// enough is none.
func TestFullOutput(t *testing.T) {
	w := newWorld(t)
	w.must(0, "provision", "alice~plain")
	for args, status := range map[string]int{
		"logs alice~plain": 1, "status": 1, "exec alice~plain -- echo hello": 125,
		"help": 1,
	} {
		full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
		if err != nil {
			t.Skip(err)
		}
		command := w.command(strings.Fields(args)...)
		var stderr lockedBuffer
		command.Stdout, command.Stderr = full, &stderr
		_ = command.Run()
		_ = full.Close()
		if got := command.ProcessState.ExitCode(); got != status ||
			!strings.Contains(stderr.String(), "cannot write to standard output: no space left on device") {
			t.Errorf("berth %s: exit status %d, want %d\n%s", args, got, status, stderr.String())
		}
	}
	for _, args := range []string{"status", "exec alice~plain -- yes", "help"} {
		reader, writer, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		command := w.command(strings.Fields(args)...)
		var stderr lockedBuffer
		command.Stdout, command.Stderr = writer, &stderr
		_ = reader.Close()
		_ = command.Run()
		_ = writer.Close()
		if got := command.ProcessState.ExitCode(); got != 141 || stderr.String() != "" {
			t.Errorf("berth %s: exit status %d\n%s", args, got, stderr.String())
		}
	}
}
