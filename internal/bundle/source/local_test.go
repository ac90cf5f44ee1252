package source_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/bundle/content"
	"github.com/berthdev/berth/internal/bundle/source"
	"github.com/berthdev/berth/internal/fault"
)

func newFetcher(t *testing.T) source.Fetcher {
	t.Helper()
	return source.Fetcher{
		Cache:  content.NewCache(t.TempDir(), content.DefaultCacheSize),
		Limits: content.DefaultLimits(),
	}
}

func write(t *testing.T, name, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func targz(t *testing.T, files map[string]string) []byte {
	t.Helper()
	var out bytes.Buffer
	compressed := gzip.NewWriter(&out)
	w := tar.NewWriter(compressed)
	for name, text := range files {
		if err := w.WriteHeader(&tar.Header{Name: name, Size: int64(len(text)), Mode: 0o755}); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write([]byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := compressed.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// A directory, an archive of it and the same on standard input are the same content.
func TestLocalIsTheSame(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "b", "manifests", "a.yaml"), "kind: A\n")
	write(t, filepath.Join(dir, "b", ".git", "HEAD"), "ref: main\n")
	packed := targz(t, map[string]string{"./manifests/a.yaml": "kind: A\n"})
	write(t, filepath.Join(dir, "b.tgz"), string(packed))
	f := newFetcher(t)
	var last v1.Progress
	f.Progress = func(p v1.Progress) { last = p }
	digests := map[string]bool{}
	for _, path := range []string{filepath.Join(dir, "b"), filepath.Join(dir, "b.tgz"), source.Stdin} {
		c, err := f.Local(t.Context(), path, bytes.NewReader(packed))
		if err != nil {
			t.Fatal(err)
		}
		digests[c.Digest] = true
		if text, err := fs.ReadFile(c.FS(), "manifests/a.yaml"); err != nil || string(text) != "kind: A\n" {
			t.Errorf("%q, %v", text, err)
		}
		_ = c.Close()
	}
	if len(digests) != 1 {
		t.Errorf("different content: %v", digests)
	}
	if last.Message != "Reading standard input" || last.Done != int64(len(packed)) {
		t.Errorf("%+v", last)
	}
}

// One file of YAML or JSON is the content of a directory with manifests/: the same from a path, from standard input and
// from a server, but for the name that it has there.
func TestOneFileIsManifests(t *testing.T) {
	const text = "apiVersion: v1\nkind: A\n"
	dir := t.TempDir()
	url := serve(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(text)) })
	for name, want := range map[string]string{
		filepath.Join(dir, "install.yaml"):            "manifests/install.yaml",
		filepath.Join(dir, "all-1.2.json"):            "manifests/all-1.2.json",
		filepath.Join(dir, "a file.yaml"):             "manifests/manifest.yaml",
		filepath.Join(dir, "text"):                    "manifests/manifest.yaml",
		source.Stdin:                                  "manifests/manifest.yaml",
		url + "/v1/install.yml?token=x":               "manifests/install.yml",
		url + "/v1/%2e%2e%2finstall.yaml":             "manifests/install.yaml",
		url + "/latest":                               "manifests/manifest.yaml",
		url + "/" + strings.Repeat("a", 99) + ".yaml": "manifests/manifest.yaml",
	} {
		t.Run(name, func(t *testing.T) {
			f := newFetcher(t)
			var c *content.Content
			var err error
			if strings.HasPrefix(name, url) {
				c, _, err = f.Fetch(t.Context(), overHTTP(name, nil))
			} else {
				if name != source.Stdin {
					write(t, name, text)
				}
				c, err = f.Local(t.Context(), name, strings.NewReader(text))
			}
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			if got, err := fs.ReadFile(c.FS(), want); err != nil || string(got) != text || c.Files != 1 {
				t.Errorf("%q, %v", got, err)
			}
		})
	}
}

// A chart may keep its values elsewhere inside of it.
func TestLocalFollowsLinksInside(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "base.yaml"), "a: 1\n")
	if err := os.Symlink("base.yaml", filepath.Join(dir, "values.yaml")); err != nil {
		t.Fatal(err)
	}
	f := newFetcher(t)
	c, err := f.Local(t.Context(), dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if got, err := fs.ReadFile(c.FS(), "values.yaml"); err != nil || string(got) != "a: 1\n" {
		t.Errorf("%q, %v", got, err)
	}
}

func TestLocalRefusesLinks(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "a"), "a")
	for _, name := range []string{"l1", "l2"} {
		if err := os.Symlink("/etc/passwd", filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	_, err := newFetcher(t).Local(t.Context(), dir, nil)
	if err == nil || !strings.Contains(err.Error(), dir+": ") || len(fault.From(err).Problems) != 2 ||
		fault.CodeOf(err) != fault.InvalidArgument {
		t.Errorf("%v %q", err, fault.From(err).Problems)
	}
}

func TestLocalIsMissing(t *testing.T) {
	_, err := newFetcher(t).Local(t.Context(), filepath.Join(t.TempDir(), "none"), nil)
	if fault.CodeOf(err) != fault.NotFound || !strings.HasSuffix(err.Error(), "none does not exist") {
		t.Error(err)
	}
	empty := t.TempDir()
	_, err = newFetcher(t).Local(t.Context(), empty, nil)
	if fault.CodeOf(err) != fault.InvalidArgument || err.Error() != empty+": the bundle is empty" {
		t.Error(err)
	}
}
