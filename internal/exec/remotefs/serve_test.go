package remotefs_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"io"
	"io/fs"
	mathrand "math/rand/v2"
	"net"
	"os"
	osexec "os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/pkg/sftp"

	"github.com/berthdev/berth/internal/exec"
	"github.com/berthdev/berth/internal/exec/remotefs"
	"github.com/berthdev/berth/internal/skiptest"
)

// shells are those that images have; of busybox, the tools as well.
func shells(t *testing.T) map[string][]string {
	t.Helper()
	all := map[string][]string{}
	for _, name := range []string{"dash", "bash", "busybox"} {
		if at, err := osexec.LookPath(name); err == nil {
			all[name] = []string{at}
		} else if os.Getenv(skiptest.Env) != "" {
			t.Error(err)
		}
	}
	if _, ok := all["busybox"]; ok {
		all["busybox"] = append(all["busybox"], "sh")
	}
	return all
}

// place runs commands here, with another shell, as they would run in a container with this home directory. It has no
// server of its own.
func place(t *testing.T, name string, shell []string, home string) exec.Runner {
	t.Helper()
	path := os.Getenv("PATH")
	if name == "busybox" {
		path = t.TempDir()
		for tool := range strings.FieldsSeq("cat chmod chown dd head ln mkdir mv printf readlink rm rmdir stat touch " +
			"truncate xargs sh") {
			if err := os.Symlink(shell[0], filepath.Join(path, tool)); err != nil {
				t.Fatal(err)
			}
		}
	}
	return func(ctx context.Context, command []string, s exec.Session) (int, error) {
		command = slices.Clone(command)
		command[2] = strings.ReplaceAll(command[2], "/sftp-server", "/no-such-server")
		cmd := osexec.CommandContext(ctx, shell[0], append(shell[1:], command[1:]...)...) //nolint:gosec // a test's own
		cmd.Env = []string{"HOME=" + home, "PATH=" + path}
		cmd.Stdin, cmd.Stdout, cmd.Stderr = s.Stdin, s.Stdout, s.Stderr
		cmd.WaitDelay = time.Second
		err := cmd.Run()
		if exit, is := errors.AsType[*osexec.ExitError](err); is && ctx.Err() == nil {
			return exit.ExitCode(), nil
		}
		return 0, err
	}
}

func client(t *testing.T, run exec.Runner) *sftp.Client {
	t.Helper()
	here, there := net.Pipe()
	served := make(chan error, 1)
	go func() { served <- remotefs.Serve(t.Context(), run, there) }()
	c, err := sftp.NewClientPipe(here, here)
	if err != nil {
		t.Fatal(err, <-served)
	}
	t.Cleanup(func() {
		_ = here.Close()
		_ = c.Close()
		if err := <-served; err != nil {
			t.Log(err)
		}
	})
	return c
}

// each runs a test in each shell, with a client and the directory that it begins in.
func each(t *testing.T, test func(t *testing.T, c *sftp.Client, home string)) {
	t.Helper()
	for name, shell := range shells(t) {
		t.Run(name, func(t *testing.T) {
			home := t.TempDir()
			test(t, client(t, place(t, name, shell, home)), home)
		})
	}
}

func names() []string {
	var low, high []byte
	for b := 1; b < 256; b++ {
		if b < 128 && b != '/' {
			low = append(low, byte(b))
		} else if b >= 128 {
			high = append(high, byte(b))
		}
	}
	return []string{
		string(low), string(high), "plain", "a b", "-rf", "new\nline", "\nfirst", "last\n", "quote'",
		`back\slash`, "$HOME", "*", ".hidden", "..dots", "\xff\xfe", "é",
	}
}

func TestNames(t *testing.T) {
	each(t, func(t *testing.T, c *sftp.Client, home string) {
		for _, name := range names() {
			f, err := c.Create(name)
			if err != nil {
				t.Fatalf("%q: %v", name, err)
			}
			_, _ = f.Write([]byte(name))
			if err := f.Close(); err != nil {
				t.Errorf("%q: %v", name, err)
			}
			if text, err := os.ReadFile(filepath.Join(home, name)); string(text) != name {
				t.Errorf("%q: %q, %v", name, text, err)
			}
			if i, err := c.Stat(name); err != nil || i.Size() != int64(len(name)) || !i.Mode().IsRegular() {
				t.Errorf("%q: %v, %v", name, i, err)
			}
		}
		all, err := c.ReadDir(".")
		var found []string
		for _, i := range all {
			found = append(found, i.Name())
		}
		want := names()
		slices.Sort(want)
		slices.Sort(found)
		if err != nil || !slices.Equal(found, want) {
			t.Errorf("%q, %v", found, err)
		}
		for _, name := range names() {
			if err := c.Rename(name, name+"2"); err != nil {
				t.Errorf("%q: %v", name, err)
			}
			if err := c.Remove(name + "2"); err != nil {
				t.Errorf("%q: %v", name, err)
			}
		}
		if all, err := c.ReadDir("."); err != nil || len(all) != 0 {
			t.Errorf("%v, %v", all, err)
		}
	})
}

// Files of all sizes arrive as they are, either way, in order or not.
func TestContent(t *testing.T) {
	each(t, func(t *testing.T, c *sftp.Client, home string) {
		for _, size := range []int{0, 1, 4096, 256 << 10, 256<<10 + 1, 5 << 20} {
			want := make([]byte, size)
			_, _ = rand.Read(want)
			f, err := c.Create("file")
			if err != nil {
				t.Fatal(err)
			}
			if _, err := f.ReadFrom(bytes.NewReader(want)); err != nil {
				t.Error(err)
			}
			if err := f.Close(); err != nil {
				t.Error(err)
			}
			if got, err := os.ReadFile(filepath.Join(home, "file")); !bytes.Equal(got, want) {
				t.Errorf("%d: %d bytes arrived, %v", size, len(got), err)
			}
			r, err := c.Open("file")
			if err != nil {
				t.Fatal(err)
			}
			var got bytes.Buffer
			if _, err := r.WriteTo(&got); err != nil || !bytes.Equal(got.Bytes(), want) {
				t.Errorf("%d: %d bytes came, %v", size, got.Len(), err)
			}
			for _, offset := range []int{size / 2, size / 3, size - 1, 0} {
				if offset < 0 {
					continue
				}
				part := make([]byte, min(1000, size-offset))
				if n, err := r.ReadAt(part, int64(offset)); n != len(part) || err != nil && !errors.Is(err, io.EOF) ||
					!bytes.Equal(part, want[offset:offset+n]) {
					t.Errorf("%d at %d: %d, %v", size, offset, n, err)
				}
			}
			_ = r.Close()
		}
	})
}

// What is written at any place, appended, or read while it is written, is as in a local file.
func TestRandomWrites(t *testing.T) {
	each(t, func(t *testing.T, c *sftp.Client, home string) {
		at := filepath.Join(home, "file")
		if err := os.WriteFile(at, bytes.Repeat([]byte("x"), 10000), 0o600); err != nil {
			t.Fatal(err)
		}
		f, err := c.OpenFile("file", os.O_RDWR)
		if err != nil {
			t.Fatal(err)
		}
		for _, offset := range []int64{5000, 10, 9998, 20000} {
			if _, err := f.WriteAt([]byte("here"), offset); err != nil {
				t.Error(err)
			}
		}
		part := make([]byte, 4)
		if _, err := f.ReadAt(part, 5000); err != nil || string(part) != "here" {
			t.Errorf("%q, %v", part, err)
		}
		if err := f.Close(); err != nil {
			t.Error(err)
		}
		got, _ := os.ReadFile(at)
		if len(got) != 20004 || string(got[10:14])+string(got[5000:5004])+string(got[9998:10002]) != "hereherehere" ||
			got[9] != 'x' || got[15000] != 0 {
			t.Errorf("%d bytes", len(got))
		}
		a, err := c.OpenFile("file", os.O_WRONLY|os.O_APPEND)
		if err != nil {
			t.Fatal(err)
		}
		_, _ = a.Write([]byte("end"))
		if err := a.Close(); err != nil {
			t.Error(err)
		}
		if got, _ := os.ReadFile(at); !bytes.HasSuffix(got, []byte("hereend")) {
			t.Errorf("%q", got[20000:])
		}
	})
}

// What is written in any order, over what was written before, is as in a local file.
func TestWritesOverEachOther(t *testing.T) {
	each(t, func(t *testing.T, c *sftp.Client, home string) {
		random := mathrand.New(mathrand.NewPCG(1, 2)) //nolint:gosec // the same every time
		for range 10 {
			f, err := c.OpenFile("file", os.O_WRONLY|os.O_CREATE|os.O_TRUNC)
			if err != nil {
				t.Fatal(err)
			}
			var want []byte
			at := 0
			for i := range 40 {
				p := bytes.Repeat([]byte{byte('A' + i)}, 1+random.IntN(30_000))
				if end := at + len(p); end > len(want) {
					want = append(want, make([]byte, end-len(want))...)
				}
				copy(want[at:], p)
				if _, err := f.WriteAt(p, int64(at)); err != nil {
					t.Fatal(err)
				}
				if random.IntN(3) > 0 {
					at += len(p)
				} else {
					at = max(0, at-40_000+random.IntN(100_000))
				}
			}
			if err := f.Close(); err != nil {
				t.Error(err)
			}
			if got, err := os.ReadFile(filepath.Join(home, "file")); err != nil || !bytes.Equal(got, want) {
				t.Fatalf("%d bytes of %d, %v", len(got), len(want), err)
			}
		}
	})
}

// Errors are those of the calls of a local file system.
func TestErrors(t *testing.T) {
	each(t, func(t *testing.T, c *sftp.Client, home string) {
		for _, dir := range []string{"dir", "full", "full/in"} {
			if err := c.Mkdir(dir); err != nil {
				t.Fatal(err)
			}
		}
		_ = os.WriteFile(filepath.Join(home, "file"), []byte("x"), 0o600)
		if err := c.Symlink("dir", filepath.Join(home, "link")); err != nil {
			t.Error(err)
		}
		_, missing := c.Stat("missing")
		_, below := c.ReadDir("missing/dir")
		_, open := c.Open("missing")
		_, dir := c.Open("dir")
		for what, test := range map[string]struct{ err, want error }{
			"stat": {missing, fs.ErrNotExist}, "below": {below, fs.ErrNotExist}, "open": {open, fs.ErrNotExist},
			"remove": {c.Remove("missing"), fs.ErrNotExist}, "rename": {c.Rename("missing", "other"), fs.ErrNotExist},
		} {
			if !errors.Is(test.err, test.want) {
				t.Errorf("%s: %v", what, test.err)
			}
		}
		for what, err := range map[string]error{
			"a directory is read": dir, "made twice": c.Mkdir("dir"), "not empty": c.RemoveDirectory("full"),
			"over another": c.Rename("file", "dir"),
		} {
			if err == nil {
				t.Error(what)
			}
		}
		if err := wrote(c, "missing/dir/file"); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("written below a directory that is not there: %v", err)
		}
		if err := wrote(c, "/proc/version"); !errors.Is(err, fs.ErrPermission) && os.Geteuid() != 0 {
			t.Errorf("written without permission: %v", err)
		}
		if err := wrote(c, "afterwards"); err != nil {
			t.Errorf("written afterwards: %v", err)
		}
		if to, err := c.ReadLink("link"); to != "dir" || err != nil {
			t.Errorf("%q, %v", to, err)
		}
		if err := c.PosixRename("file", "link"); err != nil {
			t.Error(err)
		}
		if i, err := c.Lstat("link"); err != nil || !i.Mode().IsRegular() {
			t.Errorf("%v, %v", i, err)
		}
	})
}

// wrote writes a small file; the error is that of closing it, as its content is sent then.
func wrote(c *sftp.Client, path string) error {
	f, err := c.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC)
	if err != nil {
		return err
	}
	_, err = f.Write([]byte("text"))
	return errors.Join(err, f.Close())
}

// Attributes are set on files that are there, and on those that are being written.
func TestAttributes(t *testing.T) {
	each(t, func(t *testing.T, c *sftp.Client, home string) {
		when := time.Unix(1_500_000_000, 0)
		f, err := c.Create("file")
		if err != nil {
			t.Fatal(err)
		}
		_, _ = f.Write([]byte("text"))
		if err := f.Chmod(0o640); err != nil {
			t.Error(err)
		}
		if err := c.Chtimes("file", when, when); err != nil {
			t.Error(err)
		}
		if err := f.Close(); err != nil {
			t.Error(err)
		}
		i, err := os.Stat(filepath.Join(home, "file"))
		if err != nil || i.Mode().Perm() != 0o640 || !i.ModTime().Equal(when) || i.Size() != 4 {
			t.Errorf("%v, %v", i, err)
		}
		if err := c.Truncate("file", 2); err != nil {
			t.Error(err)
		}
		if i, err := c.Stat("file"); err != nil || i.Size() != 2 {
			t.Errorf("%v, %v", i, err)
		}
		if v, err := c.StatVFS("/"); err != nil || v.TotalSpace() == 0 {
			t.Errorf("%v, %v", v, err)
		}
	})
}

// What is being written is there for everybody who asks.
func TestSeenWhileItIsWritten(t *testing.T) {
	each(t, func(t *testing.T, c *sftp.Client, _ string) {
		f, err := c.Create("file")
		if err != nil {
			t.Fatal(err)
		}
		if i, err := c.Lstat("file"); err != nil || i.Size() != 0 {
			t.Errorf("%v, %v", i, err)
		}
		_, _ = f.Write([]byte("text"))
		if all, err := c.ReadDir("."); err != nil || len(all) != 1 || all[0].Size() != 4 {
			t.Errorf("%v, %v", all, err)
		}
		_, _ = f.Write([]byte(" and more"))
		if err := f.Close(); err != nil {
			t.Error(err)
		}
		if i, err := c.Stat("file"); err != nil || i.Size() != 13 {
			t.Errorf("%v, %v", i, err)
		}
	})
}

// counted counts what the shell is asked for.
type counted struct {
	io.Reader

	mu   sync.Mutex
	text bytes.Buffer
}

// asked is how often.
func (c *counted) asked(what string) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return strings.Count(c.text.String(), " "+what+" ")
}

// Read implements io.Reader.
func (c *counted) Read(p []byte) (int, error) {
	n, err := c.Reader.Read(p)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.text.Write(p[:n])
	return n, err
}

// A small file is one round trip, as scp sends it: not emptied at first, and cut to its size at the end, which it has
// already. Another size counts, and so does what was there before. The first file of a directory is looked at.
func TestSmallFileIsOneRoundTrip(t *testing.T) {
	shell := shells(t)["dash"]
	if shell == nil {
		skiptest.Lacks(t, "needs dash")
	}
	for name, c := range map[string]struct {
		flags        int
		before       string
		size         int64 // to which it is cut; none below 0
		want         string
		stored, sets int
	}{
		"its own size":       {os.O_TRUNC, "", 4, "text", 1, 0},
		"a shorter one":      {os.O_TRUNC, "", 2, "te", 1, 1},
		"a longer one":       {os.O_TRUNC, "", 6, "text\x00\x00", 1, 1},
		"scp":                {0, "", 4, "text", 1, 0},
		"scp, over a longer": {0, "something", 4, "text", 1, 0},
		"over a longer":      {0, "something", -1, "textthing", 1, 0},
		"over a shorter":     {0, "so", -1, "text", 1, 0},
		"over a longer, cut": {0, "something", 6, "textth", 1, 1},
	} {
		t.Run(name, func(t *testing.T) {
			home := t.TempDir()
			if c.before != "" {
				if err := os.WriteFile(filepath.Join(home, "file"), []byte(c.before), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			run, input := place(t, "dash", shell, home), make(chan *counted, 1)
			client := client(t, func(ctx context.Context, command []string, s exec.Session) (int, error) {
				c := &counted{Reader: s.Stdin}
				select {
				case input <- c: // the first one is the shell
					s.Stdin = c
				default:
				}
				return run(ctx, command, s)
			})
			if first, err := client.OpenFile("first", os.O_WRONLY|os.O_CREATE); err != nil || first.Close() != nil {
				t.Fatal(err)
			}
			f, err := client.OpenFile("file", os.O_WRONLY|os.O_CREATE|c.flags)
			if err != nil {
				t.Fatal(err)
			}
			_, err = f.Write([]byte("text"))
			if c.size >= 0 {
				err = errors.Join(err, f.Truncate(c.size))
			}
			if err := errors.Join(err, f.Close()); err != nil {
				t.Fatal(err)
			}
			if got, err := os.ReadFile(filepath.Join(home, "file")); err != nil || string(got) != c.want {
				t.Errorf("%q, %v", got, err)
			}
			_ = client.Close()
			in := <-input
			if in.asked("store")-1 != c.stored || in.asked("set_attributes") != c.sets ||
				in.asked("fill") != 0 || in.asked("follow") != 1 {
				t.Errorf("store %d, set_attributes %d, fill %d, follow %d", in.asked("store"),
					in.asked("set_attributes"),
					in.asked("fill"), in.asked("follow"))
			}
		})
	}
}
