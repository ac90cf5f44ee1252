package bundle_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/commands/cmdtest"
	"github.com/berthdev/berth/internal/waittest"
)

// repositoryOf serves a chart, app, that depends without a lock on db, of which it has the versions 1.0.0 to
// 1.newest.0.
func repositoryOf(t *testing.T, newest *atomic.Int32) (url string) {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/index.yaml" {
			text := "entries:\n  app:\n  - {name: app, version: 1.0.0, urls: [app-1.0.0.tgz]}\n  db:\n"
			for i := range newest.Load() + 1 {
				text += fmt.Sprintf("  - {name: db, version: 1.%d.0, urls: [db-1.%d.0.tgz]}\n", i, i)
			}
			_, _ = w.Write([]byte(text))
			return
		}
		name, version, _ := strings.Cut(strings.TrimSuffix(strings.TrimPrefix(r.URL.Path, "/"), ".tgz"), "-")
		meta := "{apiVersion: v2, name: " + name + ", version: " + version
		if name == "app" {
			meta += ", dependencies: [{name: db, version: ^1, repository: 'http://" + r.Host + "'}]"
		}
		_, _ = w.Write(packed(t, map[string]string{
			name + "/Chart.yaml": meta + "}",
			name + "/templates/a.yaml": "{apiVersion: v1, kind: ConfigMap, metadata: {name: " + name + "-" + version +
				"}}",
		}))
	}))
	t.Cleanup(s.Close)
	return s.URL
}

// packed is an archive of files.
func packed(t *testing.T, files map[string]string) []byte {
	t.Helper()
	var b bytes.Buffer
	compressed := gzip.NewWriter(&b)
	w := tar.NewWriter(compressed)
	for name, text := range files {
		if err := w.WriteHeader(&tar.Header{Name: name, Mode: 0o644, Size: int64(len(text))}); err != nil {
			t.Error(err)
		}
		if _, err := w.Write([]byte(text)); err != nil {
			t.Error(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Error(err)
	}
	if err := compressed.Close(); err != nil {
		t.Error(err)
	}
	return b.Bytes()
}

// A rollback of a chart without a lock has the versions of what it depends on that its revision had: a server as well,
// which has none of it in its cache, and wherever the machine has it from that asks.
func TestRollbackHasWhatTheChartDependedOn(t *testing.T) {
	for name, test := range map[string]struct{ served, elsewhere bool }{
		"from this machine":              {},
		"from another one":               {elsewhere: true},
		"by a server, from this machine": {served: true},
		"by a server, from another one":  {served: true, elsewhere: true},
	} {
		t.Run(name, func(t *testing.T) {
			server := installing(t)
			var newest atomic.Int32
			source := "repo+" + repositoryOf(t, &newest) + "//app"
			cmdtest.Must(t, 0, "bundle", "install", "shop", source)
			newest.Store(1)
			cmdtest.Must(t, 0, "bundle", "install", "shop", source)
			if got := has(server); got != "app-1.0.0 db-1.1.0" {
				t.Fatal(got)
			}
			newest.Store(2)
			if test.elsewhere {
				elsewhere(t)
			}
			if test.served {
				serving(t, server.URL)
				leads(t, server)
			}
			cmdtest.Must(t, 0, "bundle", "rollback", "shop")
			waittest.Until(t, "the first is installed again", func() bool {
				return has(server) == "app-1.0.0 db-1.0.0"
			})
			waittest.Until(t, "it is recorded", func() bool {
				out, _ := cmdtest.Must(t, 0, "bundle", "history", "shop", "-o", "json")
				items := decoded[v1.BundleHistory](t, out).Items
				return len(items) == 3 && items[0].Status == "deployed" && items[0].Digest == items[2].Digest &&
					strings.Join(items[0].Dependencies, "") == "db 1.0.0"
			})
		})
	}
}
