//go:build unix

package release

import (
	"bufio"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/initscript"
	"github.com/berthdev/berth/internal/skiptest"
)

// start runs the runtime until it is ready, and returns its log.
func (w workspace) start(shell ...string) (log []string) {
	w.Helper()
	args := slices.Concat(shell[1:], []string{filepath.Join(w.k8shell, "runtime", "start.sh"), w.k8shell})
	cmd := exec.CommandContext(w.Context(), shell[0], args...)
	cmd.Env = append(os.Environ(), "HOME="+w.home)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	out, err := cmd.StdoutPipe()
	if err != nil {
		w.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		w.Fatal(err)
	}
	ended := make(chan struct{})
	defer close(ended)
	for lines := bufio.NewScanner(out); lines.Scan(); {
		log = append(log, lines.Text())
		if lines.Text() == "workspace: ready" {
			go w.end(cmd.Process.Pid, ended)
		}
	}
	if err := cmd.Wait(); err != nil {
		w.Fatalf("%v:\n%s", err, strings.Join(log, "\n"))
	}
	return log
}

// end ends a group of processes, again and again: one that begins at that moment would keep
// the log open.
func (workspace) end(group int, ended <-chan struct{}) {
	for {
		_ = syscall.Kill(-group, syscall.SIGTERM)
		select {
		case <-ended:
			return
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// inEachShell runs a test in each shell that an image may have, on a workspace with these files of init scripts.
func inEachShell(t *testing.T, scripts map[string]string, test func(t *testing.T, start func() []string)) {
	t.Helper()
	for _, shell := range [][]string{{"/bin/sh"}, {"bash"}, {"busybox", "sh"}} {
		t.Run(filepath.Base(shell[0]), func(t *testing.T) {
			if _, err := exec.LookPath(shell[0]); err != nil {
				skiptest.Lacks(t, "%v", err)
			}
			w := newWorkspace(t)
			w.write(filepath.Join(w.k8shell, "state", "keep"), "")
			for file, script := range scripts {
				w.write(filepath.Join(w.k8shell, "init", file), script)
			}
			test(t, func() []string { return w.start(shell...) })
		})
	}
}

// What the runtime says of the init scripts is what berth reads, in every shell; what has
// failed is run again by the next start, and nothing else.
func TestInitScriptsAreSaid(t *testing.T) {
	inEachShell(t, map[string]string{
		"00-k8shell.repository-0a1b2c3": "true",
		"01-loud":                       "echo out; printf err >&2",
		"02-broken":                     "echo before; nosuchcommand; exit 7",
		"03-last":                       "true",
	}, func(t *testing.T, start func() []string) {
		read := func() (states []string, broken v1.Script) {
			var log initscript.Log
			for _, line := range start() {
				log.Line(line)
			}
			if !log.Ready() {
				t.Error("not ready")
			}
			for _, s := range log.Scripts() {
				states = append(states, s.Name+" "+string(s.State))
				if s.Name == "broken" {
					broken = s
				}
			}
			return states, broken
		}
		states, broken := read()
		if diff := cmp.Diff([]string{"repository done", "loud done", "broken failed", "last done"},
			states); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
		if broken.ExitCode == nil || *broken.ExitCode != 7 || len(broken.Lines) != 2 ||
			!strings.Contains(broken.Lines[1], "nosuchcommand") {
			t.Errorf("%+v", broken)
		}
		states, _ = read()
		if diff := cmp.Diff([]string{"repository skipped", "loud skipped", "broken failed", "last skipped"},
			states); diff != "" {
			t.Errorf("again (-want +got):\n%s", diff)
		}
	})
}

// A script that always runs does so with each start; each is told whether it has yet to succeed in this home, and what
// runs afterwards is not.
func TestScriptsThatAlwaysRun(t *testing.T) {
	inEachShell(t, map[string]string{
		"01-once":       `echo "once $K8SHELL_INIT_FIRST_RUN"`,
		"02_each-time":  `echo "always $K8SHELL_INIT_FIRST_RUN"`,
		"03-broken_one": `echo "broken $K8SHELL_INIT_FIRST_RUN"; exit 1`,
	}, func(t *testing.T, start func() []string) {
		for _, want := range []string{
			"once true, once done, always true, each-time done, broken true, broken_one failed",
			"once skipped, always false, each-time done, broken true, broken_one failed",
			"once skipped, always false, each-time done, broken true, broken_one failed",
		} {
			var log initscript.Log
			var said []string
			for _, line := range start() {
				log.Line(line)
				if !strings.HasPrefix(line, "workspace: ") {
					said = append(said, line)
				}
				if all := log.Scripts(); len(all) > 0 && strings.HasPrefix(line, "workspace: init script") {
					if last := all[len(all)-1]; last.State != v1.ScriptRunning {
						said = append(said, last.Name+" "+string(last.State))
					}
				}
			}
			if got := strings.Join(said, ", "); got != want || !log.Ready() {
				t.Errorf("%s, want %s", got, want)
			}
		}
	})
}
