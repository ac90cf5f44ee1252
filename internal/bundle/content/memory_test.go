package content_test

import (
	"archive/tar"
	"compress/gzip"
	"fmt"
	"io"
	"runtime"
	"testing"

	"github.com/berthdev/berth/internal/bundle/content"
	"github.com/berthdev/berth/internal/fault"
)

// zeros is a tar file of so many files of zeros, made as it is read.
func zeros(files int, size int64, compressed bool) io.Reader {
	r, out := io.Pipe()
	go func() {
		var to io.Writer = out
		var packed *gzip.Writer
		if compressed {
			packed, _ = gzip.NewWriterLevel(out, gzip.BestSpeed)
			to = packed
		}
		w := tar.NewWriter(to)
		block := make([]byte, 64<<10)
		for i := range files {
			_ = w.WriteHeader(&tar.Header{Name: fmt.Sprint(i), Size: size})
			for written := int64(0); written < size; written += int64(len(block)) {
				if _, err := w.Write(block); err != nil {
					return // the reader has had enough
				}
			}
		}
		_ = w.Close()
		if packed != nil {
			_ = packed.Close()
		}
		_ = out.Close()
	}()
	return r
}

// allocated is what f allocates, all in all: more than it ever needs at once.
func allocated(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// most are bytes: what each of many files takes is among them, and what the race detector
// adds to that.
const most = 8 << 20

// A GiB goes through some buffers, and so do many files.
func TestMemoryIsBounded(t *testing.T) {
	if testing.Short() {
		t.Skip("writes a GiB")
	}
	for name, test := range map[string]struct {
		files      int
		size       int64
		compressed bool
	}{
		"one file":   {1, 1 << 30, false},
		"many files": {1 << 10, 128 << 10, true},
	} {
		t.Run(name, func(t *testing.T) {
			limits := content.Limits{Compressed: 2 << 30, Unpacked: 2 << 30, File: 2 << 30, Files: 2000, Ratio: 2000}
			b, err := content.NewBuilder(newCache(t), limits)
			if err != nil {
				t.Fatal(err)
			}
			defer b.Discard()
			n := allocated(func() {
				if err := b.Tar(t.Context(), zeros(test.files, test.size, test.compressed)); err != nil {
					t.Error(err)
				}
			})
			if n > most {
				t.Errorf("%d bytes have been allocated", n)
			}
		})
	}
}

// What is taken is written, and read again, through the same buffers.
func TestMemoryOfSealIsBounded(t *testing.T) {
	cache := newCache(t)
	b := newBuilder(t, cache)
	if err := b.Tar(t.Context(), zeros(4, 16<<20, false)); err != nil {
		t.Fatal(err)
	}
	n := allocated(func() {
		again, err := cache.Get(sealed(t, b).Digest)
		if err != nil {
			t.Fatal(err)
		}
		_ = again.Close()
	})
	if n > most {
		t.Errorf("%d bytes have been allocated", n)
	}
}

// A bomb is refused when it shows, long before it is unpacked, with what a bundle needs
// in memory and on disk.
func TestBombs(t *testing.T) {
	for name, test := range map[string]struct {
		files int
		size  int64
	}{
		"one large file":         {1, 1 << 40},
		"files within the limit": {1 << 20, 16 << 20},
		"empty files":            {1 << 30, 0},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBuilder(t, newCache(t))
			n := allocated(func() {
				if err := b.Tar(t.Context(),
					zeros(test.files, test.size, true)); fault.ReasonOf(err) != content.ReasonTooLarge {
					t.Error(err)
				}
			})
			if n > 16*most { // the names of 10,000 files among it, and what makes them
				t.Errorf("%d bytes have been allocated", n)
			}
		})
	}
}
