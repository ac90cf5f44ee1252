package content_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"sync"
	"testing"

	"github.com/berthdev/berth/internal/bundle/content"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/skiptest"
)

// An archive is opened as it is, by many at once, and outlives the cache's entry.
func TestArchive(t *testing.T) {
	dir := t.TempDir()
	cache := content.NewCache(dir, 1<<20)
	c := seal(t, cache, example())
	want := read(t, pathOf(dir, c.Digest))
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			archive, err := cache.Archive(t.Context(), c.Digest)
			if err != nil {
				t.Error(err)
				return
			}
			defer archive.Close()
			if got, err := io.ReadAll(archive); err != nil || !bytes.Equal(got, want) {
				t.Errorf("%d bytes, %v", len(got), err)
			}
		})
	}
	group.Wait()
	skiptest.OnWindows(t, "a file that is open is not removed")
	archive, err := cache.Archive(t.Context(), c.Digest)
	if err != nil || os.Remove(pathOf(dir, c.Digest)) != nil {
		t.Fatal(err)
	}
	if got, err := io.ReadAll(archive); err != nil || !bytes.Equal(got, want) || archive.Close() != nil {
		t.Errorf("%d bytes, %v", len(got), err)
	}
	if _, err := cache.Archive(t.Context(), c.Digest); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
	if _, err := cache.Archive(t.Context(), "../x"); fault.CodeOf(err) != fault.InvalidArgument {
		t.Error(err)
	}
	alone := c.Archive()
	if got, err := io.ReadAll(alone); err != nil || !bytes.Equal(got, want) || alone.Close() != nil {
		t.Errorf("%d bytes, %v", len(got), err)
	}
	if _, err := alone.Seek(0, io.SeekStart); err != nil {
		t.Error(err)
	}
	if _, err := alone.Read(make([]byte, 1)); !errors.Is(err, os.ErrClosed) {
		t.Errorf("the file is not closed: %v", err)
	}
}

// An archive is verified when it is opened first, and not after that; another file of its
// name is verified again.
func TestArchiveIsVerifiedOnce(t *testing.T) {
	dir := t.TempDir()
	cache := content.NewCache(dir, 1<<20)
	c := seal(t, cache, example())
	path := pathOf(dir, c.Digest)
	whole := read(t, path)
	damaged := append([]byte{}, whole...)
	damaged[len(damaged)/2] ^= 1
	open := func() error {
		archive, err := cache.Archive(t.Context(), c.Digest)
		if err == nil {
			_ = archive.Close()
		}
		return err
	}
	over, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := cache.Archive(over, c.Digest); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if err := open(); err != nil {
		t.Fatal("anyone who gives up has removed it: ", err)
	}
	if err := os.WriteFile(path, damaged, 0o600); err != nil { // in place
		t.Fatal(err)
	}
	if err := open(); err != nil {
		t.Error("it is verified each time: ", err)
	}
	skiptest.OnWindows(t, "a file that is open is not replaced")
	for name, text := range map[string][]byte{
		"damaged": damaged, "not gzip": []byte("x"), "another's": other(t),
		"more": append(whole, 'x'),
	} {
		replaced := path + "x"
		if err := errors.Join(os.WriteFile(replaced, text, 0o600), os.Rename(replaced, path)); err != nil {
			t.Fatal(err)
		}
		if err := open(); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: it is still there: %v", name, err)
		}
	}
}
