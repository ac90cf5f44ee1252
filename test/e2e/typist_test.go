//go:build e2e

package e2e

import (
	"os"
	"os/exec"
	"strings"
	"time"

	"github.com/charmbracelet/x/ansi"
	"github.com/creack/pty"
)

// typist is somebody at a terminal: what berth shows is read as it comes, and keys are
// typed once it is there.
type typist struct {
	w    *world
	cmd  *exec.Cmd
	tty  *os.File
	out  lockedBuffer
	read chan struct{} // closed at the end of what is shown
	seen int           // how much of it has been waited for
}

// sit starts a command in a terminal of 24 by 80.
func (w *world) sit(cmd *exec.Cmd) *typist {
	w.Helper()
	cmd.Env = append(cmd.Env, "TERM=xterm-256color", "LANG=C.UTF-8", "LC_ALL=C.UTF-8", "CI=", "NO_COLOR=")
	tty, err := pty.StartWithSize(cmd, &pty.Winsize{Rows: 24, Cols: 80})
	if err != nil {
		w.Fatal(err)
	}
	p := &typist{w: w, cmd: cmd, tty: tty, read: make(chan struct{})}
	w.Cleanup(func() { _ = cmd.Process.Kill(); _ = tty.Close() })
	go func() {
		defer close(p.read)
		p.watches()
	}()
	return p
}

// watches reads what is shown to its end. It answers a shell that asks where the cursor is,
// as a terminal does: busybox's takes what comes then for the answer.
func (p *typist) watches() {
	const question, answer = "\x1b[6n", "\x1b[1;1R"
	buffer := make([]byte, 32<<10)
	for answered := 0; ; {
		n, err := p.tty.Read(buffer)
		_, _ = p.out.Write(buffer[:n])
		for asked := strings.Count(p.out.String(), question); answered < asked; answered++ {
			_, _ = p.tty.WriteString(answer)
		}
		if err != nil { // when the other side is closed
			return
		}
	}
}

// sees waits for a text after what has been seen before.
func (p *typist) sees(text string) {
	p.w.Helper()
	found := false
	defer func() {
		if !found {
			p.w.Logf("the terminal, of which %d bytes were seen:\n%q", p.seen, p.out.String())
		}
	}()
	p.w.eventually("the terminal shows "+text, func() bool {
		all := p.out.String()
		i := strings.Index(all[p.seen:], text)
		if found = i >= 0; found {
			p.seen += i + len(text)
		}
		return found
	})
}

// types types keys.
func (p *typist) types(keys string) {
	p.w.Helper()
	if _, err := p.tty.WriteString(keys); err != nil {
		p.w.Fatal(err)
	}
}

// resizes makes the terminal another size.
func (p *typist) resizes(rows, columns uint16) {
	p.w.Helper()
	if err := pty.Setsize(p.tty, &pty.Winsize{Rows: rows, Cols: columns}); err != nil {
		p.w.Fatal(err)
	}
}

// ends waits for the end, and gives what was shown without its escape sequences.
func (p *typist) ends(status int) string {
	p.w.Helper()
	timer := time.AfterFunc(patience, func() { _ = p.cmd.Process.Kill() })
	defer timer.Stop()
	<-p.read
	_ = p.cmd.Wait()
	if got := p.cmd.ProcessState.ExitCode(); got != status {
		p.w.Errorf("exit status %d, want %d:\n%s", got, status, p.out.String())
	}
	return ansi.Strip(p.out.String())
}
