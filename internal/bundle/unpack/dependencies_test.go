package unpack

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/berthdev/berth/api/bundle/v1alpha1"
	"github.com/berthdev/berth/internal/bundle/content"
	"github.com/berthdev/berth/internal/fault"
)

// chartArchive is a chart of one file.
func chartArchive(t *testing.T, text string) []byte {
	t.Helper()
	var b bytes.Buffer
	compressed := gzip.NewWriter(&b)
	w := tar.NewWriter(compressed)
	if err := w.WriteHeader(&tar.Header{Name: "x/Chart.yaml", Mode: 0o644, Size: int64(len(text))}); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Write([]byte(text)); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := compressed.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// What a chart depends on is fetched with it, in a server as well, and pinned by the digest on the bundle: once it has
// moved, what was unpacked cannot be had again, and is not replaced by anything else.
func TestContentHasWhatAChartDependsOn(t *testing.T) {
	version := "1.0.0"
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		text := "apiVersion: v2\nname: db\nversion: " + version + "\n"
		switch r.URL.Path {
		case "/index.yaml":
			_, _ = w.Write([]byte("entries:\n  db:\n  - version: " + version + "\n    urls: [db.tgz]\n"))
			return
		case "/app.tgz":
			text = "apiVersion: v2\nname: app\nversion: 1.0.0\ndependencies:\n- {name: db, version: ^1, " +
				"repository: 'http://" + r.Host + "'}\n"
		}
		_, _ = w.Write(chartArchive(t, text))
	}))
	t.Cleanup(s.Close)
	from := v1alpha1.Source{Type: v1alpha1.SourceHTTP, HTTP: &v1alpha1.HTTPSource{URL: s.URL + "/app.tgz"}}
	for _, server := range []bool{false, true} {
		version = "1.0.0"
		u, _ := withCache(t)
		forget := func() { u.Fetcher.Cache = content.NewCache(t.TempDir(), 1<<20) }
		if server {
			u.Fetches = NewFetches(u.Fetcher.Cache)
		}
		b := madeBundle("shop", "1")
		c, resolved, err := u.fetched(t.Context(), b, newSteps(t), from)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := fs.Stat(c.FS(), "x/charts/db-1.0.0/Chart.yaml"); err != nil {
			t.Error(err)
		}
		b.Status.Digest, b.Status.ResolvedSource = c.Digest, &resolved
		_ = c.Close()
		forget()
		c, err = u.Content(t.Context(), b, newSteps(t))
		if err != nil || c.Digest != b.Status.Digest {
			t.Fatalf("%v %v", c, err)
		}
		_ = c.Close()
		forget()
		version = "1.1.0"
		if c, err := u.Content(t.Context(), b, newSteps(t)); fault.CodeOf(err) != fault.Failed ||
			!strings.Contains(err.Error(), "has changed") || !strings.Contains(fault.From(err).Hint, "Chart.lock") {
			t.Errorf("%v %v", c, err)
		}
	}
}
