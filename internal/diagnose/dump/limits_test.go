package dump

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/berthdev/berth/internal/fault"
)

// Whatever exceeds a limit, the error names it, and the file inside the archive.
func TestLimits(t *testing.T) {
	small := func(change func(*limits)) limits {
		l := defaults()
		change(&l)
		return l
	}
	bomb := "a: &a [x,x,x,x,x,x,x,x,x]\n"
	for i := range 9 {
		bomb += fmt.Sprintf("%c: &%c [*%c,*%c,*%c,*%c,*%c,*%c,*%c,*%c]\n", 'b'+i, 'b'+i, 'a'+i, 'a'+i, 'a'+i, 'a'+i,
			'a'+i, 'a'+i, 'a'+i, 'a'+i)
	}
	bomb = "apiVersion: v1\nkind: Pod\n" + bomb
	self := "apiVersion: v1\nkind: Pod\nmetadata: &m {name: *m}\n"
	for name, c := range map[string]struct {
		limits limits
		dump   []byte
		says   string
	}{
		"a large file": {
			small(func(l *limits) { l.file = 99 }),
			[]byte(podYAML + strings.Repeat("# more\n", 20)), "f: larger than 99 bytes",
		},
		"a large file in gzip": {
			small(func(l *limits) { l.file = 99 }),
			packed(podYAML + strings.Repeat("# more\n", 20)), "f: larger than 99 bytes",
		},
		"a large file in tar": {
			small(func(l *limits) { l.file = 99 }),
			tarOf(t, "d/x.yaml", podYAML+strings.Repeat("# more\n", 20)), "f: d/x.yaml: larger than 99 bytes",
		},
		"a large file in zip": {
			small(func(l *limits) { l.file = 299 }),
			zipOf(t, "d/x.yaml", podYAML+strings.Repeat("# more\n", 50)), "f: d/x.yaml: larger than 299 bytes",
		},
		"text in all": {
			small(func(l *limits) { l.text = 60 }), tarOf(t, "1.yaml", podYAML, "2.yaml", podYAML),
			"more than 60 bytes of text, up to f: 2.yaml",
		},
		"a bomb of gzip": {
			small(func(l *limits) { l.unpacked = 1 << 20 }),
			packed(podYAML + strings.Repeat("#\n", 1<<20)), "more than 1 MiB unpacked, up to f",
		},
		"a bomb in gzip in tar": {
			small(func(l *limits) { l.unpacked = 1 << 20 }),
			tarOf(t, "x.gz", string(packed(podYAML+strings.Repeat("#\n", 1<<20)))),
			"more than 1 MiB unpacked, up to f: x.gz",
		},
		"a bomb of zip": {
			small(func(l *limits) { l.unpacked = 1 << 20 }),
			zipOf(t, "x", podYAML+strings.Repeat("#\n", 1<<20)), "more than 1 MiB unpacked, up to f: x",
		},
		"logs are unpacked, too": {
			small(func(l *limits) { l.unpacked = 1 << 20 }),
			packed(string(tarOf(t, "1.log", strings.Repeat("#\n", 1<<20), "x.yaml", podYAML))),
			"more than 1 MiB unpacked, up to f",
		},
		"files": {
			small(func(l *limits) { l.files = 2 }), tarOf(t, "1", "", "2", "", "3", ""),
			"more than 2 files: f: 3 is one too many",
		},
		"objects": {
			small(func(l *limits) { l.objects = 2 }), []byte(podJSON + podJSON + podJSON),
			"more than 2 objects",
		},
		"objects of a list": {
			small(func(l *limits) { l.objects = 2 }),
			[]byte(`{"kind":"List","items":[` + podJSON + "," + podJSON + "," + podJSON + `]}`), "more than 2 objects",
		},
		"archives in archives": {
			defaults(),
			packed(string(packed(string(packed(string(packed(string(packed(podYAML))))))))),
			"f: packed more than 3 times: unpack it first",
		},
		"nesting of JSON": {
			defaults(),
			[]byte(`{"kind":"Pod","x":` + strings.Repeat("[", 1000) + strings.Repeat("]", 1000) + "}"),
			"f:1: nested more than 500 levels deep",
		},
		"nesting of YAML": {
			defaults(),
			[]byte("kind: Pod\nx: " + strings.Repeat("[", 1000) + strings.Repeat("]", 1000)),
			"f:1: nested more than 500 levels deep",
		},
		"nesting beyond reason": {
			defaults(), []byte(`{"kind":` + strings.Repeat("[", 1_000_000)),
			"exceeded max depth",
		},
		"nesting beyond in YAML": {defaults(), []byte("kind: " + strings.Repeat("[", 1_000_000)), "exceeded max depth"},
		"a bomb of YAML":         {defaults(), []byte(bomb), "f:1: larger than 32 MiB with its aliases expanded"},
		"an alias of itself":     {defaults(), []byte(self), `f:3: alias "m" refers to itself`},
		"a large document": {
			small(func(l *limits) { l.yaml.Bytes = 1 << 20 }),
			[]byte("kind: Pod\n" + strings.Repeat("#\n", 1<<20)), "f:1: larger than 1 MiB: ",
		},
		"values of a document": {
			small(func(l *limits) { l.yaml.Marks = 10 }),
			[]byte("kind: Pod\nx: [1,2,3,4,5,6,7,8,9]\n"), "f:1: too many values",
		},
		"problems of a file": {
			small(func(l *limits) { l.problems = 2 }), []byte(strings.Repeat("kind: 1\n---\n", 9)),
			"f: more problems follow: the rest was not read",
		},
		"problems of JSON lines": {
			small(func(l *limits) { l.problems = 2 }), []byte(strings.Repeat("{\"kind\":1}\n", 9)),
			"f: more problems follow: the rest was not read",
		},
		"a damaged archive":  {defaults(), packed(podYAML)[:20], "f: the archive is incomplete: copy it again"},
		"a tar file cut off": {defaults(), tarOf(t, "x.yaml", podYAML)[:540], "f: x.yaml: the archive is incomplete"},
		"a zip file cut off": {defaults(), zipOf(t, "x.yaml", podYAML)[:60], "f: zip: not a valid zip file"},
		"another kind of archive": {
			defaults(), []byte("\xfd7zXZ\x00\x00\x00"),
			"f: compressed in a way that is not known here",
		},
		"not text":              {defaults(), []byte("kind: \x00\x01\n"), "f: not text"},
		"a log":                 {defaults(), []byte("[INFO] started\n"), "f: no Kubernetes objects"},
		"a name with line ends": {defaults(), tarOf(t, "a\nb", "kind: [\n"), "f: a b:1: "},
		"nothing":               {defaults(), []byte(" \n\n"), "f: empty"},
		"an empty archive":      {defaults(), packed(""), "f: empty"},
	} {
		t.Run(name, func(t *testing.T) {
			r := &reader{limits: c.limits}
			began := time.Now()
			r.stream(source{file: "f", in: bytes.NewReader(c.dump)})
			got, err := r.contents("f")
			if fault.CodeOf(err) != fault.InvalidArgument || fault.From(err).Hint == "" {
				t.Fatalf("%v, %+v", err, got)
			}
			if said := err.Error() + strings.Join(fault.From(err).Problems, "\n"); !strings.Contains(said, c.says) {
				t.Errorf("%q is not in %s", c.says, said)
			}
			if took := time.Since(began); took > 30*time.Second {
				t.Errorf("it took %s", took)
			}
		})
	}
}

// The number of a directory's files has a limit, too.
func TestLimitOfADirectory(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"1", "2", "3"} {
		write(t, filepath.Join(dir, name), podYAML)
	}
	r := &reader{limits: defaults()}
	r.limits.files = 2
	if err := r.open(dir); err != nil {
		t.Fatal(err)
	}
	if _, err := r.contents(dir); err == nil || !strings.Contains(err.Error(), "3 is one too many") {
		t.Error(err)
	}
}

func packed(text string) []byte {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, _ = w.Write([]byte(text))
	_ = w.Close()
	return b.Bytes()
}

// tarOf makes a tar file of names and texts.
func tarOf(t *testing.T, files ...string) []byte {
	t.Helper()
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for i := 0; i < len(files); i += 2 {
		if err := w.WriteHeader(&tar.Header{Name: files[i], Size: int64(len(files[i+1])), Mode: 0o644}); err != nil {
			t.Fatal(err)
		}
		_, _ = w.Write([]byte(files[i+1]))
	}
	_ = w.Close()
	return b.Bytes()
}

func zipOf(t *testing.T, name, text string) []byte {
	t.Helper()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	f, err := w.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	_, _ = f.Write([]byte(text))
	_ = w.Close()
	return b.Bytes()
}
