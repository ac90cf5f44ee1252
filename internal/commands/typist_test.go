//go:build unix

package commands_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/creack/pty"

	"github.com/berthdev/berth/internal/skiptest"
	"github.com/berthdev/berth/internal/waittest"
)

// user sits before a shell.
type user struct {
	t    *testing.T
	tty  *os.File
	mu   sync.Mutex
	out  strings.Builder
	seen int // how much of it has been waited for
}

// sit starts a shell in a terminal, and waits until it is ready.
func (s shell) sit(t *testing.T) *user {
	t.Helper()
	path, err := exec.LookPath(s.name)
	if err != nil {
		skiptest.Lacks(t, "takes %s: %v", s.name, err)
	}
	if s.name == "bash" {
		if _, err := os.Stat(bashCompletion); err != nil {
			skiptest.Lacks(t, "takes the package bash-completion: %v", err)
		}
	}
	home := t.TempDir()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	script, err := filepath.Abs(filepath.Join("..", "..", "completions", s.script))
	if err != nil {
		t.Fatal(err)
	}
	setup := filepath.Join(home, ".zshrc") // the name that zsh wants, and the others do not mind
	if err := os.WriteFile(setup, fmt.Appendf(nil, s.setup, script), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(self, filepath.Join(home, "berth")); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), path, s.start(setup)[1:]...)
	cmd.Dir = home
	cmd.Env = append(os.Environ(), "TERM=dumb", "LC_ALL=C.UTF-8", "HOME="+home, "PATH="+home+":"+os.Getenv("PATH"))
	if s.environment != nil {
		cmd.Env = append(cmd.Env, s.environment(setup)...)
	}
	u := &user{t: t}
	if u.tty, err = pty.StartWithSize(cmd, &pty.Winsize{Rows: 50, Cols: 200}); err != nil {
		t.Fatal(err)
	}
	read := make(chan struct{})
	go func() {
		defer close(read)
		u.watches()
	}()
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		_ = u.tty.Close()
		<-read
	})
	u.sees(prompt)
	return u
}

// watches reads what is shown to its end.
func (u *user) watches() {
	buffer := make([]byte, 4<<10)
	for {
		n, err := u.tty.Read(buffer)
		u.mu.Lock()
		u.out.Write(buffer[:n])
		u.mu.Unlock()
		if err != nil { // when the other side is closed
			return
		}
	}
}

// types types keys.
func (u *user) types(keys string) {
	u.t.Helper()
	if _, err := u.tty.WriteString(keys); err != nil {
		u.t.Fatal(err)
	}
}

// sees waits for a text after what has been seen before.
func (u *user) sees(text string) {
	u.t.Helper()
	shown := func() string {
		u.mu.Lock()
		defer u.mu.Unlock()
		return u.out.String()
	}
	found := false
	defer func() {
		if !found {
			u.t.Logf("the terminal, of which %d bytes were seen:\n%q", u.seen, shown())
		}
	}()
	waittest.Until(u.t, "the terminal shows "+text, func() bool {
		i := strings.Index(shown()[u.seen:], text)
		if found = i >= 0; found {
			u.seen += i + len(text)
		}
		return found
	})
}
