//go:build e2e

package e2e

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"strings"
	"sync"
	"time"

	"github.com/berthdev/berth/internal/userstring"
)

// process is a running berth.
type process struct {
	w      *world
	cmd    *exec.Cmd
	stdout lockedBuffer
	stderr lockedBuffer
	ended  chan error
}

// start starts berth in the background.
func (w *world) start(args ...string) *process {
	w.Helper()
	return w.launch(w.command(args...))
}

func (w *world) launch(cmd *exec.Cmd) *process {
	w.Helper()
	p := &process{w: w, cmd: cmd, ended: make(chan error, 1)}
	cmd.Stdout, cmd.Stderr = &p.stdout, &p.stderr
	if err := cmd.Start(); err != nil {
		w.Fatal(err)
	}
	w.Cleanup(func() { _ = cmd.Process.Kill() })
	go func() { p.ended <- cmd.Wait() }()
	return p
}

// waitFor waits until stderr has these words.
func (p *process) waitFor(words string) {
	p.w.Helper()
	p.w.eventually("stderr has "+words, func() bool { return strings.Contains(p.stderr.String(), words) })
}

func (p *process) signal(s os.Signal) {
	p.w.Helper()
	if err := p.cmd.Process.Signal(s); err != nil {
		p.w.Fatal(err)
	}
}

// wait waits for the end.
func (p *process) wait() result {
	p.w.Helper()
	select {
	case err := <-p.ended:
		r := result{stdout: p.stdout.String(), stderr: p.stderr.String()}
		if exit, ok := errors.AsType[*exec.ExitError](err); ok {
			r.status = exit.ExitCode()
		}
		return r
	case <-time.After(patience):
		p.w.Fatalf("still running after %s; stderr:\n%s", patience, p.stderr.String())
		return result{}
	}
}

// idOf is the canonical ID of a user string.
func (w *world) idOf(text string) string {
	w.Helper()
	u, err := userstring.Parse(text)
	if err != nil {
		w.Fatal(err)
	}
	return u.ID()
}

// lockedBuffer can be read while it is written.
type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}
