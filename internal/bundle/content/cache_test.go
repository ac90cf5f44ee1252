package content_test

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/berthdev/berth/internal/bundle/content"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/skiptest"
)

func pathOf(dir, digest string) string {
	return filepath.Join(dir, strings.TrimPrefix(digest, "sha256:")+".tgz")
}

func TestCacheVerifiesWhatItReads(t *testing.T) {
	for name, damage := range map[string]func(t *testing.T, path string) error{
		"one bit": func(_ *testing.T, path string) error {
			raw, err := os.ReadFile(path)
			raw[len(raw)/2] ^= 1
			return errors.Join(err, os.WriteFile(path, raw, 0o600))
		},
		"cut off": func(_ *testing.T, path string) error { return os.Truncate(path, 100) },
		"empty":   func(_ *testing.T, path string) error { return os.Truncate(path, 0) },
		"more": func(t *testing.T,
			path string,
		) error {
			return os.WriteFile(path, append(read(t, path), "x"...), 0o600)
		},
		"another's": func(t *testing.T, path string) error { return os.WriteFile(path, other(t), 0o600) },
		"not gzip":  func(_ *testing.T, path string) error { return os.WriteFile(path, []byte("kind: A\n"), 0o600) },
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			cache := content.NewCache(dir, 1<<20)
			c := seal(t, cache, example())
			if err := damage(t, pathOf(dir, c.Digest)); err != nil {
				t.Fatal(err)
			}
			if _, err := cache.Get(c.Digest); !errors.Is(err, fs.ErrNotExist) {
				t.Error(err)
			}
			if _, err := os.Stat(pathOf(dir, c.Digest)); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("the damaged archive is still there: %v", err)
			}
		})
	}
}

func read(t *testing.T, path string) []byte {
	t.Helper()
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

// other is an archive of other content.
func other(t *testing.T) []byte {
	t.Helper()
	r, err := seal(t, newCache(t), map[string]string{"x": "y"}).Open()
	if err != nil {
		t.Fatal(err)
	}
	raw, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

func TestCacheTakesDigestsOnly(t *testing.T) {
	cache := newCache(t)
	for _, digest := range []string{
		"", "x", "sha256:", "sha256:../../etc/passwd", "sha512:" + strings.Repeat("0", 64),
		"sha256:" + strings.Repeat("G", 64),
	} {
		if _, err := cache.Get(digest); fault.CodeOf(err) != fault.InvalidArgument {
			t.Errorf("%q: %v", digest, err)
		}
	}
	if _, err := cache.Get("sha256:" + strings.Repeat("0", 64)); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
}

// noise does not become smaller when it is compressed.
func noise(n int, seed uint64) string {
	text := make([]byte, n)
	random := rand.New(rand.NewPCG(seed, 1)) //nolint:gosec // for a test
	for i := range text {
		text[i] = byte(random.Uint32())
	}
	return string(text)
}

// The oldest use goes first; a reader of it goes on.
func TestCacheIsBounded(t *testing.T) {
	dir := t.TempDir()
	cache := content.NewCache(dir, 250<<10)
	var made []*content.Content
	put := func() {
		made = append(made, seal(t, cache, map[string]string{"noise": noise(100<<10, uint64(len(made)))}))
		old := time.Now().Add(time.Duration(len(made)-10) * time.Minute)
		if err := os.Chtimes(pathOf(dir, made[len(made)-1].Digest), old, old); err != nil {
			t.Fatal(err)
		}
	}
	put()
	put()
	used, err := cache.Get(made[0].Digest)
	if err != nil {
		t.Fatal(err)
	}
	defer used.Close()
	put()
	for i, want := range []bool{true, false, true} {
		if _, err := os.Stat(pathOf(dir, made[i].Digest)); (err == nil) != want {
			t.Errorf("archive %d: %v, want it kept: %t", i, err, want)
		}
	}
	if got := filesOf(t, made[1].FS())["noise"]; got != noise(100<<10, 1) {
		t.Error("content that is open has changed")
	}
	r, err := made[1].Open()
	if err != nil {
		t.Fatal(err)
	}
	if n, err := io.Copy(io.Discard, r); err != nil || n < 100<<10 {
		t.Errorf("%d bytes, %v", n, err)
	}
}

// Content that is larger than the cache is not kept, and can be read all the same.
func TestCacheWithoutRoom(t *testing.T) {
	dir := t.TempDir()
	c := seal(t, content.NewCache(dir, 10), example())
	if got := filesOf(t, c.FS()); len(got) != len(example()) {
		t.Errorf("%v", got)
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 0 {
		t.Errorf("%v, %v", entries, err)
	}
}

func TestCacheIsCleaned(t *testing.T) {
	dir := t.TempDir()
	old := time.Now().Add(-2 * time.Hour)
	for _, name := range []string{"tmp-old", "tmp-new", "README"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
		if name != "tmp-new" {
			if err := os.Chtimes(filepath.Join(dir, name), old, old); err != nil {
				t.Fatal(err)
			}
		}
	}
	seal(t, content.NewCache(dir, 1<<20), example())
	for name, want := range map[string]bool{"tmp-old": false, "tmp-new": true, "README": true} {
		if _, err := os.Stat(filepath.Join(dir, name)); (err == nil) != want {
			t.Errorf("%s: %v, want it kept: %t", name, err, want)
		}
	}
}

func TestCacheCannotBeWritten(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := content.NewBuilder(content.NewCache(file, 1), content.DefaultLimits())
	if fault.CodeOf(err) != fault.Failed || !strings.Contains(err.Error(), file) || fault.From(err).Hint == "" {
		t.Error(err)
	}
}

const envOfProcess = "BERTH_TEST_CACHE"

// TestCacheProcess is not a test: it is one of several processes, see below.
func TestCacheProcess(t *testing.T) {
	dir := os.Getenv(envOfProcess)
	if dir == "" {
		t.Skip("for TestCacheIsShared")
	}
	cache := content.NewCache(dir, sharedBound)
	for i := 0; ; i++ {
		c := seal(t, cache, map[string]string{"noise": noise(200<<10, uint64(i%8))})
		if again, err := cache.Get(c.Digest); err == nil {
			if got := filesOf(t, again.FS())["noise"]; got != noise(200<<10, uint64(i%8)) {
				t.Error("other content")
			}
			_ = again.Close()
		} else if !errors.Is(err, fs.ErrNotExist) {
			t.Error(err)
		}
		if t.Failed() {
			return
		}
		_ = c.Close()
		if i%10 == 9 {
			fmt.Fprintln(os.Stderr, "alive")
		}
	}
}

const sharedBound = 700 << 10

// Several processes fill a cache that is too small for them, until each is killed in
// the middle of it. What has the name of a digest then is what it says, and another
// process finds the cache in order.
func TestCacheIsShared(t *testing.T) {
	dir := t.TempDir()
	var processes []*exec.Cmd
	for range 3 {
		cmd := exec.Command(os.Args[0], "-test.run=^TestCacheProcess$") //nolint:gosec // this test
		cmd.Env = append(os.Environ(), envOfProcess+"="+dir)
		out, err := cmd.StderrPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		if _, err := out.Read(make([]byte, 1)); err != nil {
			t.Errorf("a process has ended: %v", err)
		}
		processes = append(processes, cmd)
	}
	for _, cmd := range processes {
		_ = cmd.Process.Kill()
		if err := cmd.Wait(); err == nil || cmd.ProcessState.Exited() && !skiptest.Windows {
			t.Errorf("a process has ended by itself: %v", err)
		}
	}
	cache := content.NewCache(dir, sharedBound)
	for i := range 8 {
		digest := seal(t, newCache(t), map[string]string{"noise": noise(200<<10, uint64(i))}).Digest
		_, before := os.Stat(pathOf(dir, digest))
		c, err := cache.Get(digest)
		if (err == nil) != (before == nil) {
			t.Errorf("an archive is there (%v) and cannot be read: %v", before, err)
		}
		if err == nil {
			_ = c.Close()
		}
	}
	seal(t, cache, example())
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var total int64
	for _, entry := range entries {
		if info, err := entry.Info(); err == nil && strings.HasSuffix(entry.Name(), ".tgz") {
			total += info.Size()
		}
	}
	if total > sharedBound {
		t.Errorf("%d bytes are kept", total)
	}
}

// A cache within another one is where its directory is now: what was kept in one before is not found.
func TestCacheWithin(t *testing.T) {
	dir, now := t.TempDir(), "one"
	outer := content.NewCache(dir, 1<<20)
	inner := outer.Within(func() string { return now })
	c := seal(t, inner, example())
	for _, step := range []struct {
		now  string
		kept bool
	}{{"one", true}, {"another", false}, {"one", true}} {
		now = step.now
		if got, err := inner.Get(c.Digest); (err == nil) != step.kept {
			t.Errorf("%s: %v", now, err)
		} else if err == nil {
			_ = got.Close()
		}
	}
	if _, err := outer.Get(c.Digest); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("what is within is found outside: %v", err)
	}
}
