package remotefs_test

import (
	"context"
	"errors"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/pkg/sftp"

	"github.com/berthdev/berth/internal/exec"
	"github.com/berthdev/berth/internal/exec/remotefs"
)

// lying is a place whose shell answers everything with the same, and then goes on reading, or ends.
func lying(answer string, forever bool) exec.Runner {
	return func(_ context.Context, _ []string, s exec.Session) (int, error) {
		_, _ = io.WriteString(s.Stdout, "berth-files /home\x00")
		line := make([]byte, 64<<10)
		for {
			if s.Stdin != nil {
				if _, err := s.Stdin.Read(line); err != nil {
					return 0, nil //nolint:nilerr // its input has ended
				}
			}
			if _, err := io.WriteString(s.Stdout, answer); err != nil || !forever {
				return 1, nil //nolint:nilerr // so has its output
			}
		}
	}
}

// tryAll calls whatever reads an answer, and ends when all have one.
func tryAll(t *testing.T, run exec.Runner) (errs []error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	here, there := net.Pipe()
	served := make(chan error, 1)
	go func() { served <- remotefs.Serve(ctx, run, there) }()
	c, err := sftp.NewClientPipe(here, here)
	if err != nil {
		t.Fatal(err)
	}
	_, stat := c.Stat("a")
	_, lstat := c.Lstat("a")
	_, list := c.ReadDir("a")
	_, link := c.ReadLink("a")
	_, space := c.StatVFS("a")
	f, open := c.Open("a")
	if open == nil {
		_, open = io.Copy(io.Discard, io.LimitReader(f, 1<<20))
		_ = f.Close()
	}
	w, create := c.Create("a")
	if create == nil {
		_, _ = w.Write([]byte("text"))
		create = w.Close()
	}
	errs = []error{stat, lstat, list, link, space, open, create, c.Rename("a", "b"), c.Remove("a"), c.Mkdir("a")}
	_ = here.Close()
	_ = c.Close()
	if err := <-served; err != nil {
		t.Log(err)
	}
	if ctx.Err() != nil {
		t.Error("it has not ended")
	}
	return errs
}

// A workspace that lies is told apart from one that answers, and costs neither memory nor time.
func TestLies(t *testing.T) {
	for name, answer := range map[string]string{
		"an empty line":           "\n",
		"no line":                 strings.Repeat("x", 1<<20),
		"another word":            "yes\n",
		"an unknown code":         "no such code\n",
		"attributes of nothing":   "ok\n",
		"attributes of letters":   "ok a b c d e f\n",
		"too many names":          "ok 99999999999\n",
		"negative names":          "ok -1\n",
		"names that do not end":   "ok 5\n" + strings.Repeat("x", 1<<20),
		"the directory above":     "ok 1\n./..\x0041ed 1 0 0 0 0 ./..\n\x00",
		"a name with a directory": "ok 1\n./../x\x0041ed 1 0 0 0 0 ./../x\n\x00",
	} {
		t.Run(name, func(t *testing.T) {
			for i, err := range tryAll(t, lying(answer, true)) {
				if err == nil && i < 7 && name != "attributes of nothing" {
					t.Errorf("call %d succeeds", i)
				}
			}
			tryAll(t, lying(answer, false))
		})
	}
}

// Nor does one that begins with something else.
func TestAnotherProgram(t *testing.T) {
	for _, says := range []string{"", "motd\n", "berth-files", strings.Repeat("x", 1<<20)} {
		here, there := net.Pipe()
		go func() { _, _ = io.Copy(io.Discard, here) }()
		err := remotefs.Serve(t.Context(), func(_ context.Context, _ []string, s exec.Session) (int, error) {
			_, _ = io.WriteString(s.Stdout, says)
			return 1, nil
		}, there)
		if err == nil || errors.Is(err, context.Canceled) {
			t.Errorf("%.20q: %v", says, err)
		}
		_ = here.Close()
	}
}

func FuzzAnswer(f *testing.F) {
	for _, answer := range []string{
		"ok 41ed 1 0 0 0 0\n", "ok 2\n./a\x00./b\x0041ed 1 0 0 0 0 ./a\n\x00", "no ENOENT\n", "ok 4\ntext",
		"ok\n/x\x00",
		"ok 4096 4096 1 1 1 1 1 255\n",
	} {
		f.Add(answer)
	}
	f.Fuzz(func(t *testing.T, answer string) {
		if answer != "" {
			tryAll(t, lying(answer, true))
		}
		tryAll(t, lying(answer, false))
	})
}
