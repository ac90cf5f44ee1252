package copy_test

import (
	"context"
	"crypto/rand"
	"errors"
	"io"
	"net"
	"os"
	osexec "os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/berthdev/berth/internal/exec"
	filecopy "github.com/berthdev/berth/internal/exec/copy"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/skiptest"
)

// way copies in one direction, in which from and to are the same names below here and
// there.
type way func(p place, here, from, to string) error

func ways(t *testing.T) map[string]way {
	t.Helper()
	return map[string]way{
		"send": func(p place, here, from, to string) error {
			_, err := filecopy.Send{
				Run: p.run, From: here + "/" + from, To: to,
				Meter: &filecopy.Meter{},
			}.Do(t.Context())
			return err
		},
		"receive": func(p place, here, from, to string) error { // the other end is where the other test has here
			p.home, here = here, p.home
			_, err := filecopy.Receive{
				Run: p.run, From: from, To: here + "/" + to,
				Meter: &filecopy.Meter{},
			}.Do(t.Context())
			return err
		},
	}
}

// Where things go, both ways: as cp -a has it.
func TestDestinations(t *testing.T) {
	for maker, p := range places(t) {
		for direction, copyOne := range ways(t) {
			for name, c := range map[string]struct {
				from, to string
				want     string // a file that is there then, and its text
				code     fault.Code
			}{
				"a file into a directory":         {"f", "dir", "dir/f", ""},
				"a file into the home directory":  {"f", "", "f", ""},
				"a file to a new name":            {"f", "new", "new", ""},
				"a file over a file":              {"f", "old", "old", ""},
				"a file over a link":              {"f", "link", "link", ""},
				"a file into what is not there":   {"f", "nodir/", "", fault.NotFound},
				"a file below what is not there":  {"f", "nodir/f", "", fault.NotFound},
				"a file over a directory":         {"taken", "dir", "", fault.Conflict},
				"a directory to a new name":       {"d", "new", "new/in", ""},
				"a directory to one with a slash": {"d", "new/", "new/in", ""},
				"a directory into a directory":    {"d", "dir", "dir/d/in", ""},
				"a directory added to one":        {"both", "dir", "dir/both/in", ""},
				"a directory over a file":         {"d", "old", "", fault.Conflict},
				"contents to a new name":          {"d/.", "new", "new/in", ""},
				"contents into a directory":       {"d/.", "dir", "dir/in", ""},
				"contents over what does not fit": {"clash/.", "dir", "", fault.Conflict},
				"what is not there":               {"nothing", "dir", "", fault.NotFound},
				"a link with a slash":             {"ln/", "dir", "dir/ln/in", ""},
			} {
				t.Run(maker+" "+direction+" "+name, func(t *testing.T) {
					p := place{t.TempDir(), p.path}
					here, there := t.TempDir(), p.home
					for path, text := range map[string]string{
						"f": "x", "taken": "x", "d/in": "x", "both/in": "x",
						"both/deep/in": "x", "clash/taken": "x",
					} {
						must(t, os.MkdirAll(filepath.Dir(filepath.Join(here, path)), 0o755),
							os.WriteFile(filepath.Join(here, path), []byte(text), 0o600))
					}
					must(t, os.Symlink("d", filepath.Join(here, "ln")))
					for path, text := range map[string]string{
						"old": "old", "target": "target", "dir/both/stays": "stays",
						"dir/both/deep/stays": "stays", "dir/taken/stays": "stays",
					} {
						must(t, os.MkdirAll(filepath.Dir(filepath.Join(there, path)), 0o755),
							os.WriteFile(filepath.Join(there, path), []byte(text), 0o600))
					}
					must(t, os.Symlink("target", filepath.Join(there, "link")))
					before := describe(t, there, false)
					err := copyOne(p, here, c.from, c.to)
					if fault.CodeOf(err) != c.code {
						t.Fatalf("%v (%s), want %q", err, fault.CodeOf(err), c.code)
					}
					if after := describe(t, there, false); c.want == "" && after != before {
						t.Errorf("it was changed:\n%s\nbefore\n%s", after, before)
					}
					if got, _ := os.ReadFile(filepath.Join(there, c.want)); c.want != "" && string(got) != "x" {
						t.Errorf("%s is %q\n%s", c.want, got, listing(t, there))
					}
					for _, path := range []string{
						"target", "dir/both/stays", "dir/both/deep/stays",
						"dir/taken/stays",
					} {
						if got, _ := os.ReadFile(filepath.Join(there, path)); string(got) != filepath.Base(path) {
							t.Errorf("%s is %q", path, got)
						}
					}
					noLeftovers(t, here, there, filepath.Join(there, "dir"), filepath.Join(there, "dir", "both"))
				})
			}
		}
	}
}

// A connection that is lost on the way leaves nothing, wherever that is.
func TestLostOnTheWay(t *testing.T) {
	lost := errors.New("lost")
	for maker, p := range places(t) {
		here := t.TempDir()
		grow(t, filepath.Join(here, "src"))
		for _, after := range []int{0, 1, 511, 512, 1024, 5000, 12000, 20000} {
			cut := func(ctx context.Context, command []string, s exec.Session) (int, error) {
				if s.Stdin != nil {
					s.Stdin = &cutReader{s.Stdin, after}
				} else {
					s.Stdout = &cutWriter{s.Stdout, after}
				}
				_, _ = p.run(ctx, command, s)
				return 0, fault.New(fault.Unavailable, "%w", lost)
			}
			_, err := filecopy.Send{
				Run: cut, From: filepath.Join(here, "src"), To: "new",
				Meter: &filecopy.Meter{},
			}.Do(t.Context())
			if !errors.Is(err, lost) {
				t.Errorf("%s, sent %d: %v", maker, after, err)
			}
			must(t, os.RemoveAll(filepath.Join(here, "back")))
			p := place{here, p.path}
			_, err = filecopy.Receive{Run: func(ctx context.Context, command []string, s exec.Session) (int, error) {
				s.Stdout = &cutWriter{s.Stdout, after}
				_, _ = p.run(ctx, command, s)
				return 0, fault.New(fault.Unavailable, "%w", lost)
			}, From: "src", To: filepath.Join(here, "back"), Meter: &filecopy.Meter{}}.Do(t.Context())
			if !errors.Is(err, lost) {
				t.Errorf("%s, received %d: %v", maker, after, err)
			}
			if left, _ := filepath.Glob(filepath.Join(here, "back")); len(left) > 0 {
				t.Errorf("%s, received %d: left %v", maker, after, left)
			}
		}
		if left, _ := os.ReadDir(p.home); len(left) > 0 {
			t.Errorf("%s: left there: %v", maker, left)
		}
		noLeftovers(t, here)
	}
}

// What cannot be written at the other end is said, though a connection loses what is said
// while it is still sent to.
func TestFailureIsHeard(t *testing.T) {
	for maker, p := range places(t) {
		large := filepath.Join(t.TempDir(), "large")
		noise := make([]byte, 8<<20)
		_, _ = rand.Read(noise)
		must(t, os.WriteFile(large, noise, 0o600))
		meter := &filecopy.Meter{}
		_, err := filecopy.Send{Run: func(ctx context.Context, command []string, s exec.Session) (int, error) {
			in := &endingReader{from: s.Stdin}
			s.Stdin = in
			status, err := p.run(ctx, append([]string{"sh", "-c", `ulimit -f 64; exec "$0" "$@"`}, command...), s)
			if !in.ended.Load() {
				return 0, errors.New("the connection was lost")
			}
			return status, err
		}, From: large, To: "new", Meter: meter}.Do(t.Context())
		if fault.CodeOf(err) != fault.Failed || !strings.Contains(err.Error(),
			"cannot write to new in the container: ") {
			t.Errorf("%s: %v", maker, err)
		}
		noLeftovers(t, p.home)
	}
}

// A directory there that may not be read is said to be that.
func TestUnreadableThere(t *testing.T) {
	for maker, p := range places(t) {
		must(t, os.Mkdir(filepath.Join(p.home, "secret"), 0o700))
		// Root may read everything, so the shell says what it says to others.
		const denied = `cd() { case $1 in *secret*) echo "cd: $1: Permission denied" >&2; return 1 ;; esac; ` +
			`command cd "$@"; }` + "\n"
		_, err := filecopy.Receive{Run: func(ctx context.Context, command []string, s exec.Session) (int, error) {
			command[2] = denied + command[2]
			return p.run(ctx, command, s)
		}, From: "secret/.", To: t.TempDir(), Meter: &filecopy.Meter{}}.Do(t.Context())
		if fault.CodeOf(err) != fault.Failed ||
			err.Error() != "cannot read in the container: cd: ./secret/.: Permission denied" {
			t.Errorf("%s: %v", maker, err)
		}
	}
}

// What is no file is not copied, and all of it is named, by its whole path.
func TestWhatIsNoFile(t *testing.T) {
	skiptest.OnWindows(t, "a socket is no file")
	here, p := t.TempDir(), place{t.TempDir(), os.Getenv("PATH")}
	for _, name := range []string{"a", "b"} {
		listener, err := net.Listen("unix", filepath.Join(here, name))
		must(t, err)
		t.Cleanup(func() { _ = listener.Close() })
	}
	_, err := filecopy.Send{Run: p.run, From: here, To: "new", Meter: &filecopy.Meter{}}.Do(t.Context())
	problems := fault.From(err).Problems
	if len(problems) != 2 || problems[0] != filepath.Join(here, "a")+" is a socket, not a file" {
		t.Errorf("%v: %q", err, problems)
	}
}

// endingReader notes that it was read to its end.
type endingReader struct {
	from  io.Reader
	ended atomic.Bool
}

func (e *endingReader) Read(p []byte) (int, error) {
	n, err := e.from.Read(p)
	if err != nil {
		e.ended.Store(true)
	}
	return n, err
}

// cutReader ends after some bytes.
type cutReader struct {
	from interface{ Read([]byte) (int, error) }
	left int
}

func (c *cutReader) Read(p []byte) (int, error) {
	if c.left <= 0 {
		return 0, errors.New("cut")
	}
	n, err := c.from.Read(p[:min(len(p), c.left)])
	c.left -= n
	return n, err
}

// cutWriter fails after some bytes.
type cutWriter struct {
	to   interface{ Write([]byte) (int, error) }
	left int
}

func (c *cutWriter) Write(p []byte) (int, error) {
	n, err := c.to.Write(p[:min(len(p), c.left)])
	c.left -= n
	if err == nil && n < len(p) {
		err = errors.New("cut")
	}
	return n, err
}

// An image without sh or tar is told what it lacks.
func TestMissingPrograms(t *testing.T) {
	busybox, err := osexec.LookPath("busybox")
	if err != nil {
		skiptest.Lacks(t, "there is no busybox")
	}
	here := t.TempDir()
	must(t, os.WriteFile(filepath.Join(here, "f"), nil, 0o600))
	p := place{t.TempDir(), programs(t, busybox, "rm", "mv", "mkdir")}
	must(t, os.Symlink("/bin/sh", filepath.Join(p.path, "sh")))
	_, err = filecopy.Send{Run: p.run, From: filepath.Join(here, "f"), Meter: &filecopy.Meter{}}.Do(t.Context())
	if err == nil || err.Error() != "the container has no tar, chmod" {
		t.Error(err)
	}
	_, err = filecopy.Receive{Run: p.run, From: "f", To: here, Meter: &filecopy.Meter{}}.Do(t.Context())
	if err == nil || err.Error() != "the container has no tar" || fault.From(err).Hint == "" {
		t.Error(err)
	}
	none := func(context.Context, []string, exec.Session) (int, error) {
		return 0, fault.New(fault.InvalidArgument, "program %q not found in workspace x", "sh")
	}
	_, err = filecopy.Receive{Run: none, From: "f", To: here, Meter: &filecopy.Meter{}}.Do(t.Context())
	if fault.CodeOf(err) != fault.Failed || !strings.Contains(err.Error(), "the container has no sh") {
		t.Error(err)
	}
}
