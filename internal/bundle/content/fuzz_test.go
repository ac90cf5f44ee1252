package content_test

import (
	"archive/tar"
	"bytes"
	"io/fs"
	"path"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/berthdev/berth/internal/bundle/content"
	"github.com/berthdev/berth/internal/fault"
)

// Whatever an archive is: nothing but an archive is left in the cache, and what is taken is within the
// limits, has decent names and can be read again.
func FuzzTar(f *testing.F) {
	t := &testing.T{}
	whole := archive(t, file("a", strings.Repeat("a", 700)), file("dir/b", "b"))
	for _, raw := range [][]byte{
		whole, compress(t, whole, 9), whole[:900], nil,
		archive(t, entry{tar.Header{Name: strings.Repeat("n/", 90) + "n", Format: tar.FormatGNU}, "x"}),
		archive(t, entry{tar.Header{Name: strings.Repeat("n/", 90) + "n", Format: tar.FormatPAX}, "x"}),
		archive(t, special(tar.TypeSymlink, "l", "/etc"), file("l/x", "")),
		archive(t, special(tar.TypeXGlobalHeader, "", ""), file("x", "")),
		sparse(t, "s", 1000, "end"), []byte("kind: A\n"),
	} {
		f.Add(raw)
	}
	limits := content.Limits{Compressed: 1 << 20, Unpacked: 1 << 20, File: 64 << 10, Files: 50, Ratio: 200}
	f.Fuzz(func(t *testing.T, raw []byte) {
		dir := t.TempDir()
		cache := content.NewCache(dir+"/a/cache", 1<<30)
		b, err := content.NewBuilder(cache, limits)
		if err != nil {
			t.Fatal(err)
		}
		defer b.Discard()
		err = b.TarOrText(t.Context(), bytes.NewReader(raw), "manifests/a.yaml", nil)
		if err != nil {
			if fault.CodeOf(err) != fault.InvalidArgument {
				t.Fatal(err)
			}
			onlyArchives(t, dir)
			return
		}
		c, err := b.Seal(t.Context())
		onlyArchives(t, dir)
		if err != nil {
			if fault.CodeOf(err) != fault.InvalidArgument {
				t.Fatal(err)
			}
			return
		}
		defer c.Close()
		files := filesOf(t, c.FS())
		var total int64
		for name, text := range files {
			total += int64(len(text))
			if !fs.ValidPath(name) || path.Clean(name) != name || !utf8.ValidString(name) ||
				int64(len(text)) > limits.File {
				t.Fatalf("%q of %d bytes has been taken", name, len(text))
			}
		}
		if c.Files != len(files) || c.Size != total || total > limits.Unpacked || len(files) > limits.Files {
			t.Fatalf("%+v is not %d files of %d bytes", c, len(files), total)
		}
		again, err := cache.Get(c.Digest)
		if err != nil {
			t.Fatal(err)
		}
		_ = again.Close()
	})
}
