package content_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/berthdev/berth/internal/bundle/content"
	"github.com/berthdev/berth/internal/fault"
)

type entry struct {
	tar.Header
	text string
}

func file(name, text string) entry { return entry{tar.Header{Name: name, Mode: 0o644}, text} }

func special(kind byte, name, link string) entry {
	return entry{tar.Header{Typeflag: kind, Name: name, Linkname: link}, ""}
}

func archive(t *testing.T, entries ...entry) []byte {
	t.Helper()
	var out bytes.Buffer
	w := tar.NewWriter(&out)
	for _, e := range entries {
		e.Size = int64(len(e.text))
		if err := w.WriteHeader(&e.Header); err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(w, e.text); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func compress(t *testing.T, raw []byte, level int) []byte {
	t.Helper()
	var out bytes.Buffer
	w, err := gzip.NewWriterLevel(&out, level)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Write(raw); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// take reads an archive into a cache of its own, and gives the files and the digest.
func take(t *testing.T, raw []byte, limits content.Limits) (files map[string]string, digest string, err error) {
	t.Helper()
	dir := t.TempDir()
	b, err := content.NewBuilder(content.NewCache(filepath.Join(dir, "a", "cache"), 1<<30), limits)
	if err != nil {
		t.Fatal(err)
	}
	defer b.Discard()
	if err := b.Tar(t.Context(), bytes.NewReader(raw)); err != nil {
		onlyArchives(t, dir)
		return nil, "", err
	}
	c, err := b.Seal(t.Context())
	onlyArchives(t, dir)
	if err != nil {
		return nil, "", err
	}
	defer c.Close()
	return filesOf(t, c.FS()), c.Digest, nil
}

// onlyArchives fails if there is anything but complete archives in the cache, or
// anything outside of it.
func onlyArchives(t *testing.T, dir string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, entry os.DirEntry, err error) error {
		if err == nil && !entry.IsDir() &&
			(filepath.Dir(path) != filepath.Join(dir, "a", "cache") || !strings.HasSuffix(path, ".tgz")) {
			t.Errorf("%s has been left", path)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

func TestHostileArchives(t *testing.T) {
	long := strings.Repeat("x", 256)
	good := file("a", "1")
	for name, test := range map[string]struct {
		entries []entry
		says    string
	}{
		"traversal":                   {[]entry{good, file("../evil", "")}, `"../evil": a path cannot have ".."`},
		"traversal in the middle":     {[]entry{file("a/../../evil", "")}, `"a/../../evil": a path cannot have ".."`},
		"traversal that stays inside": {[]entry{file("a/../b", "")}, `cannot have ".."`},
		"traversal of a directory":    {[]entry{special(tar.TypeDir, "../x/", "")}, `"../x/": a path cannot have ".."`},
		"an absolute path":            {[]entry{file("/etc/passwd", "")}, `"/etc/passwd": an absolute path`},
		"a path of Windows":           {[]entry{file(`..\evil`, "")}, "cannot have a backslash"},
		"a symbolic link": {
			[]entry{special(tar.TypeSymlink, "l", "/etc/passwd"), file("l/x", "")},
			`"l": a symbolic link to "/etc/passwd"`,
		},
		"a hard link":                 {[]entry{good, special(tar.TypeLink, "h", "a")}, `"h": a hard link to "a"`},
		"a character device":          {[]entry{special(tar.TypeChar, "dev", "")}, `"dev": a device`},
		"a block device":              {[]entry{special(tar.TypeBlock, "dev", "")}, `"dev": a device`},
		"a named pipe":                {[]entry{special(tar.TypeFifo, "pipe", "")}, `"pipe": a named pipe`},
		"an unknown type":             {[]entry{special('Z', "z", "")}, `"z": an entry of unknown type 'Z'`},
		"a file twice":                {[]entry{good, good}, `"a": the name of two files`},
		"a file twice in other words": {[]entry{file("./a", ""), file("a", "")}, `"a": the name of two files`},
		"a file and a directory":      {[]entry{good, file("a/b", "")}, `"a": the name of both a file and a directory`},
		"a directory and a file":      {[]entry{file("a/b", ""), good}, `"a": the name of both a file and a directory`},
		"a directory in place of one": {
			[]entry{good, special(tar.TypeDir, "a/", "")},
			`"a": the name of both a file and a directory`,
		},
		"a file with a directory's": {
			[]entry{special(tar.TypeDir, "a/", ""), good},
			`"a": the name of both a file and a directory`,
		},
		"the root as a file":       {[]entry{file(".", "x")}, `"."`},
		"a name that is not UTF-8": {[]entry{file("a\xff", "")}, `"a\xff": a name has to be UTF-8`},
		"a name with a control": {
			[]entry{file("a\x1b[2J", "")},
			`"a\x1b[2J": a name cannot have control characters`,
		},
		"a name with a line": {[]entry{file("a\nb", "")}, "control characters"},
		"a huge name":        {[]entry{file(long, "")}, "cannot be longer than 255 bytes"},
		"a huge path": {
			[]entry{file(strings.Repeat("x/", 600)+"x", "")},
			"cannot be longer than 1024 bytes",
		},
		"a huge name in a GNU header": {
			[]entry{{tar.Header{Name: long, Format: tar.FormatGNU}, ""}},
			"cannot be longer than 255 bytes",
		},
		"traversal in a GNU header": {[]entry{{tar.Header{
			Name:   strings.Repeat("../", 40) + "etc/passwd",
			Format: tar.FormatGNU,
		}, ""}}, `cannot have ".."`},
		"nothing": {nil, "the bundle is empty"},
		"directories alone": {
			[]entry{special(tar.TypeDir, "a/", ""), special(tar.TypeDir, "./", "")},
			"the bundle is empty",
		},
	} {
		t.Run(name, func(t *testing.T) {
			for form, raw := range map[string][]byte{
				"plain": archive(t, test.entries...),
				"gzip":  compress(t, archive(t, test.entries...), 9),
			} {
				files, _, err := take(t, raw, content.DefaultLimits())
				if fault.CodeOf(err) != fault.InvalidArgument || !strings.Contains(err.Error(), test.says) ||
					fault.From(err).Hint == "" {
					t.Errorf("%s: %v, %v; want %s", form, files, err, test.says)
				}
			}
		})
	}
}

// A name of 100 KiB is not repeated in the message.
func TestHugeNameIsShortened(t *testing.T) {
	_, _, err := take(t, archive(t, file(strings.Repeat("x", 100<<10), "")), content.DefaultLimits())
	if err == nil || len(err.Error()) > 2000 {
		t.Errorf("%d bytes", len(err.Error()))
	}
}

func TestAllEntriesAreNamed(t *testing.T) {
	_, _, err := take(t, archive(t, special(tar.TypeLink, "l", "x"), file("a", "1"), file("/b", ""),
		special(tar.TypeFifo, "p", "")), content.DefaultLimits())
	if got := fault.From(err).Problems; len(got) != 3 || !strings.Contains(got[0], `"l"`) ||
		!strings.Contains(got[1], `"/b"`) || !strings.Contains(got[2], `"p"`) {
		t.Errorf("%v: %q", err, got)
	}
}

// A text, which no archive is, is taken as one file where that is meant.
func TestTarOrText(t *testing.T) {
	packed := archive(t, file("a", "1"))
	for name, test := range map[string]struct {
		raw  string
		want map[string]string
		says string
	}{
		"a short text":              {raw: "kind: A\n", want: map[string]string{"m/x.yaml": "kind: A\n"}},
		"a text that is long":       {raw: strings.Repeat("kind: A # \n", 99), want: nil},
		"JSON":                      {raw: "{}", want: map[string]string{"m/x.yaml": "{}"}},
		"a letter across the peek":  {raw: strings.Repeat("a", 511) + "ü", want: nil},
		"as large as a file can be": {raw: strings.Repeat("a", 2048), want: nil},
		"an archive":                {raw: string(packed), want: map[string]string{"a": "1"}},
		"one in gzip":               {raw: string(compress(t, packed, 9)), want: map[string]string{"a": "1"}},
		"larger than a file":        {raw: strings.Repeat("a", 2049), says: `"m/x.yaml": larger than 2 KiB`},
		"nothing":                   {says: "empty"},
		"a page":                    {raw: " \n<!DOCTYPE html>", says: "a page of HTML"},
		"no text":                   {raw: "kind: \x01A", says: "not a tar file"},
		"Latin-1":                   {raw: "kind: \xfcber", says: "not a tar file"},
		"a zip file":                {raw: "PK\x03\x04", says: "a zip file"},
		"a text in gzip":            {raw: string(compress(t, []byte("kind: A\n"), 9)), says: "incomplete"},
	} {
		t.Run(name, func(t *testing.T) {
			limits := content.DefaultLimits()
			limits.File = 2 << 10
			b, err := content.NewBuilder(content.NewCache(t.TempDir(), 1<<30), limits)
			if err != nil {
				t.Fatal(err)
			}
			defer b.Discard()
			var c *content.Content
			if err = b.TarOrText(t.Context(), strings.NewReader(test.raw), "m/x.yaml", nil); err == nil {
				c, err = b.Seal(t.Context())
			}
			if test.says != "" {
				if fault.CodeOf(err) != fault.InvalidArgument || !strings.Contains(err.Error(), test.says) {
					t.Fatalf("%v, want %s", err, test.says)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			if test.want == nil {
				test.want = map[string]string{"m/x.yaml": test.raw}
			}
			if got := filesOf(t, c.FS()); !maps.Equal(got, test.want) {
				t.Errorf("%v", got)
			}
		})
	}
}

func TestDamagedArchives(t *testing.T) {
	whole := archive(t, file("a", strings.Repeat("a", 700)), file("b", "b"))
	packed := compress(t, whole, 9)
	flipped := bytes.Clone(packed)
	flipped[len(flipped)-6] ^= 1 // in the checksum
	for name, test := range map[string]struct {
		raw  []byte
		says string
	}{
		"empty":                  {nil, "empty"},
		"not an archive":         {[]byte(strings.Repeat("kind: A\n", 100)), "not a tar file"},
		"a short text":           {[]byte("kind: A\n"), "not a tar file"},
		"not an archive in gzip": {compress(t, []byte(strings.Repeat("kind: A\n", 100)), 9), "not a tar file"},
		"a zip file": {
			[]byte("PK\x03\x04" + strings.Repeat("\x00", 600)),
			"a zip file, which is not supported",
		},
		"xz":                          {[]byte("\xfd7zXZ\x00" + strings.Repeat("\x00", 600)), "compressed with xz"},
		"cut in a header":             {whole[:300], "incomplete"},
		"cut in a file":               {whole[:700], "incomplete"},
		"cut between two files":       {whole[:512+1024], "incomplete"},
		"cut after the last file":     {whole[:512+1024+512+512], "incomplete"},
		"cut in its end":              {whole[:512+1024+512+512+512], "incomplete"},
		"cut in gzip":                 {packed[:len(packed)-20], "incomplete"},
		"cut in the checksum of gzip": {packed[:len(packed)-3], "incomplete"},
		"a wrong checksum":            {flipped, "damaged"},
		"garbage after the end":       {append(bytes.Clone(whole), "garbage"...), "data after its end"},
		"garbage after gzip":          {append(bytes.Clone(packed), "garbage garbage"...), "damaged"},
		"a second archive":            {append(bytes.Clone(whole), archive(t, file("c", ""))...), "data after its end"},
		"a second archive in gzip": {
			append(bytes.Clone(packed), compress(t, archive(t, file("c", "")), 9)...),
			"data after its end",
		},
		"garbage instead of a second file": {
			append(bytes.Clone(whole[:1536]), strings.Repeat("x", 1024)...),
			"damaged",
		},
	} {
		t.Run(name, func(t *testing.T) {
			files, _, err := take(t, test.raw, content.DefaultLimits())
			if fault.CodeOf(err) != fault.InvalidArgument || !strings.Contains(err.Error(), test.says) ||
				fault.From(err).Hint == "" {
				t.Errorf("%v, %v; want %s", files, err, test.says)
			}
		})
	}
}

// One tar file in several members of gzip, as parallel compressors write it, padded to
// blocks of ten KiB, is one archive.
func TestUnusualArchives(t *testing.T) {
	whole := archive(t, file("a", strings.Repeat("a", 700)), file("b", "b"))
	want := map[string]string{"a": strings.Repeat("a", 700), "b": "b"}
	comment := archive(t, entry{tar.Header{
		Typeflag:   tar.TypeXGlobalHeader,
		PAXRecords: map[string]string{"comment": "0123"},
	}, ""})
	for name, raw := range map[string][]byte{
		"members":         append(compress(t, whole[:1000], 9), compress(t, whole[1000:], 1)...),
		"an empty member": append(compress(t, nil, 9), compress(t, whole, 1)...),
		"padding":         append(bytes.Clone(whole), make([]byte, 10<<10)...),
		"a comment":       append(comment[:len(comment)-1024], whole...),
		"directories": archive(t, special(tar.TypeDir, "./", ""), special(tar.TypeDir, "x/", ""),
			special(tar.TypeDir, "x/", ""), file("./a", want["a"]), file("b", "b")),
	} {
		t.Run(name, func(t *testing.T) {
			if files, _, err := take(t, raw, content.DefaultLimits()); err != nil || !maps.Equal(files, want) {
				t.Errorf("%v, %v", files, err)
			}
		})
	}
}

// A file with a hole, as GNU tar writes it: text at its end.
func sparse(t *testing.T, name string, size int64, text string) []byte {
	t.Helper()
	raw := archive(t, entry{tar.Header{Name: name, Format: tar.FormatGNU}, text})
	header := raw[:512]
	header[156] = tar.TypeGNUSparse
	copy(header[386:], fmt.Sprintf("%011o\x00%011o\x00", size-int64(len(text)), len(text)))
	copy(header[483:], fmt.Sprintf("%011o\x00", size))
	copy(header[148:156], "        ")
	sum := 0
	for _, c := range header {
		sum += int(c)
	}
	copy(header[148:156], fmt.Sprintf("%06o\x00 ", sum))
	return raw
}

// Holes are part of a file, and count.
func TestSparseFiles(t *testing.T) {
	files, _, err := take(t, sparse(t, "sparse", 1000, "end"), content.DefaultLimits())
	if want := strings.Repeat("\x00", 997) + "end"; err != nil || files["sparse"] != want {
		t.Errorf("%v, %v", files, err)
	}
	_, _, err = take(t, sparse(t, "sparse", 8<<30-1, "end"), content.DefaultLimits())
	if fault.ReasonOf(err) != content.ReasonTooLarge || !strings.Contains(err.Error(), `"sparse": larger than 32 MiB`) {
		t.Error(err)
	}
	many := []byte{}
	for _, name := range []string{"a", "b", "c", "d"} {
		many = append(many, sparse(t, name, 30<<20, "end")[:1024]...)
	}
	_, _, err = take(t, append(many, make([]byte, 1024)...), content.DefaultLimits())
	if fault.ReasonOf(err) != content.ReasonTooLarge || !strings.Contains(err.Error(), "200 times as large") {
		t.Error(err)
	}
}

func TestLimits(t *testing.T) {
	noise := func(n int) string { return strings.Repeat("0123456789abcdef", n/16) }
	for name, test := range map[string]struct {
		change  func(*content.Limits)
		entries []entry
		says    string
	}{
		"compressed": {
			func(l *content.Limits) { l.Compressed = 1000 },
			[]entry{file("a", noise(4096))},
			"the archive is larger than 1000 bytes",
		},
		"unpacked": {
			func(l *content.Limits) { l.Unpacked = 10 << 10 },
			[]entry{file("a", noise(8192)), file("b", noise(8192))},
			"larger than 10 KiB",
		},
		"file": {
			func(l *content.Limits) { l.File = 4 << 10 },
			[]entry{file("a", noise(8192))},
			`"a": larger than 4 KiB`,
		},
		"files": {
			func(l *content.Limits) { l.Files = 2 },
			[]entry{file("a", ""), file("b", ""), file("c", "")},
			"more than 2 files and directories",
		},
		"directories": {
			func(l *content.Limits) { l.Files = 2 },
			[]entry{file("a/b/c/d", "")},
			"more than 2 files and directories",
		},
		"empty directories": {
			func(l *content.Limits) { l.Files = 2 },
			[]entry{special(tar.TypeDir, "a/", ""), special(tar.TypeDir, "b/", ""), special(tar.TypeDir, "c/", "")},
			"more than 2 files and directories",
		},
	} {
		t.Run(name, func(t *testing.T) {
			limits := content.DefaultLimits()
			test.change(&limits)
			_, _, err := take(t, archive(t, test.entries...), limits)
			if fault.ReasonOf(err) != content.ReasonTooLarge || !strings.Contains(err.Error(), test.says) {
				t.Errorf("%v, want %s", err, test.says)
			}
		})
	}
}

// What is wrong with the reader is not wrong with the archive.
func TestReaderFails(t *testing.T) {
	broken := errors.New("broken")
	whole := compress(t, archive(t, file("a", strings.Repeat("a", 700))), 9)
	for _, n := range []int{0, 1, 30, len(whole)} {
		b := newBuilder(t, newCache(t))
		err := b.Tar(t.Context(), io.MultiReader(bytes.NewReader(whole[:n]), failing{broken}))
		if !errors.Is(err, broken) {
			t.Errorf("after %d bytes: %v", n, err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := newBuilder(t, newCache(t)).Tar(ctx, bytes.NewReader(whole)); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if err := newBuilder(t, newCache(t)).Add("a", 5, failing{broken}); !errors.Is(err, broken) {
		t.Error(err)
	}
	if err := newBuilder(t, newCache(t)).Add("a", 5, strings.NewReader("abc")); err == nil ||
		!strings.Contains(err.Error(), "3 of 5 bytes") {
		t.Error(err)
	}
	if err := newBuilder(t, newCache(t)).Add("a", 2, strings.NewReader("abc")); err == nil ||
		!strings.Contains(err.Error(), "longer than the 2 bytes") {
		t.Error(err)
	}
}

type failing struct{ err error }

func (f failing) Read([]byte) (int, error) { return 0, f.err }
