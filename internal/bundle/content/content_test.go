package content_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"io"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/berthdev/berth/internal/bundle/content"
)

func newCache(t *testing.T) *content.Cache {
	t.Helper()
	return content.NewCache(t.TempDir(), content.DefaultCacheSize)
}

func newBuilder(t *testing.T, cache *content.Cache) *content.Builder {
	t.Helper()
	b, err := content.NewBuilder(cache, content.DefaultLimits())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(b.Discard)
	return b
}

// seal makes content of files.
func seal(t *testing.T, cache *content.Cache, files map[string]string) *content.Content {
	t.Helper()
	b := newBuilder(t, cache)
	for name, text := range files {
		if err := b.Add(name, int64(len(text)), strings.NewReader(text)); err != nil {
			t.Fatal(err)
		}
	}
	return sealed(t, b)
}

func sealed(t *testing.T, b *content.Builder) *content.Content {
	t.Helper()
	c, err := b.Seal(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c
}

// filesOf reads all files of a file system.
func filesOf(t *testing.T, fsys fs.FS) map[string]string {
	t.Helper()
	files := map[string]string{}
	err := fs.WalkDir(fsys, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		text, err := fs.ReadFile(fsys, name)
		files[name] = string(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

func example() map[string]string {
	return map[string]string{
		"manifests/a.yaml": "kind: A\n", "manifests/b.yaml": "kind: B\n", "README": "", "ä/ö": "ü",
		strings.Repeat("deep/", 60) + "file": "x",
	}
}

func TestContentHasItsFiles(t *testing.T) {
	want := example()
	cache := newCache(t)
	made := seal(t, cache, want)
	kept, err := cache.Get(made.Digest)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = kept.Close() })
	for name, c := range map[string]*content.Content{"made": made, "kept": kept} {
		t.Run(name, func(t *testing.T) {
			if got := filesOf(t, c.FS()); !maps.Equal(got, want) {
				t.Errorf("%v, want %v", got, want)
			}
			if err := fstest.TestFS(c.FS(), slices.Collect(maps.Keys(want))...); err != nil {
				t.Error(err)
			}
			if c.Digest != made.Digest || c.Files != len(want) || c.Size != 19 {
				t.Errorf("%+v", c)
			}
		})
	}
}

// The archive has files alone, sorted, of nobody and of no time.
func TestArchiveIsCanonical(t *testing.T) {
	c := seal(t, newCache(t), example())
	r, err := c.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	compressed, err := gzip.NewReader(r)
	if err != nil {
		t.Fatal(err)
	}
	files := tar.NewReader(compressed)
	var names []string
	for {
		h, err := files.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, h.Name)
		if h.Typeflag != tar.TypeReg || h.Mode != 0o644 || h.Uid != 0 || h.Gid != 0 || h.Uname != "" || h.Gname != "" ||
			h.ModTime.Unix() != 0 {
			t.Errorf("%+v", h)
		}
	}
	if !slices.IsSorted(names) || len(names) != len(example()) {
		t.Errorf("%q", names)
	}
	if _, err := r.Seek(0, io.SeekStart); err != nil {
		t.Fatal(err)
	}
	b := newBuilder(t, newCache(t))
	if err := b.Tar(t.Context(), r); err != nil {
		t.Fatal(err)
	}
	if again := sealed(t, b); again.Digest != c.Digest {
		t.Errorf("content of the archive is %s, want %s", again.Digest, c.Digest)
	}
}

// Digests stand in clusters: they must not change with a version of Go or of berth.
func TestDigestStaysTheSame(t *testing.T) {
	const want = "sha256:803a1b22026511864b4b5331ce3541e1acac0a6aa58e4adadeae9fba679df11b"
	if got := seal(t, newCache(t), example()).Digest; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

func TestRemove(t *testing.T) {
	b := newBuilder(t, newCache(t))
	for _, name := range []string{"a", "dir/a", "dir/sub/b", "dirt"} {
		if err := b.Add(name, 1, strings.NewReader("1")); err != nil {
			t.Fatal(err)
		}
	}
	b.Remove("dir/")
	b.Remove("a")
	b.Remove("nothing")
	for _, name := range []string{"a", "dir"} {
		if err := b.Add(name, 1, bytes.NewReader([]byte("2"))); err != nil {
			t.Fatal(err)
		}
	}
	want := map[string]string{"a": "2", "dir": "2", "dirt": "1"}
	if got := filesOf(t, sealed(t, b).FS()); !maps.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}
