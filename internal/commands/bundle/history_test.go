package bundle_test

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/commands/cmdtest"
	"github.com/berthdev/berth/internal/kubetest"
	"github.com/berthdev/berth/internal/schematest"
)

// cluster writes the status of an object with all of it, knows which APIs there are, and refuses what is named refused.
func cluster(next http.Handler) http.Handler {
	discovery := map[string]string{
		"/api":    `{"kind": "APIVersions", "versions": ["v1"]}`,
		"/apis":   `{"kind": "APIGroupList", "apiVersion": "v1", "groups": []}`,
		"/api/v1": `{"kind": "APIResourceList", "apiVersion": "v1", "groupVersion": "v1", "resources": []}`,
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		r.Body = io.NopCloser(bytes.NewReader(body))
		r.URL.Path = strings.TrimSuffix(r.URL.Path, "/status")
		switch text, known := discovery[r.URL.Path]; {
		case known:
			w.Header().Set("Content-Type", "application/json")
			_, _ = io.WriteString(w, text)
		case r.Method != http.MethodGet && strings.Contains(r.URL.Path, "/team/configmaps") &&
			bytes.Contains(body, []byte(`"name":"refused"`)):
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(http.StatusUnprocessableEntity)
			_, _ = io.WriteString(w, `{"kind": "Status", "apiVersion": "v1", "status": "Failure", "code": 422, `+
				`"reason": "Invalid", "message": "no"}`)
		default:
			next.ServeHTTP(w, r)
		}
	})
}

// release is a bundle as it is at a version.
type release struct {
	files map[string]string
	args  []string // of its installation
}

// plainly is a bundle of one ConfigMap, of this name.
func plainly(name string) release {
	return release{files: map[string]string{
		"manifests/a.yaml": "{apiVersion: v1, kind: ConfigMap, metadata: {name: " + name + "}}",
	}}
}

// charted is a chart whose ConfigMap has the name that its values say.
func charted(name string) release {
	return release{args: []string{"--set", "name=" + name}, files: map[string]string{
		"Chart.yaml":       "{apiVersion: v2, name: web, version: 1.2.3}",
		"templates/a.yaml": "{apiVersion: v1, kind: ConfigMap, metadata: {name: {{ .Values.name }}}}",
	}}
}

// unwatched is a bundle of which nobody knows whether it is healthy, so that the one before it stays.
func unwatched(name string) release {
	r := plainly(name)
	r.args = []string{"--no-wait"}
	return r
}

// installing installs releases under the name shop, one after the other, in a new cluster.
func installing(t *testing.T, releases ...release) *kubetest.Server {
	t.Helper()
	server := kubetest.Start(t, cluster)
	there(t, nil)
	cmdtest.Cluster(t, server.URL)
	for _, r := range releases {
		dir := t.TempDir()
		for name, text := range r.files {
			path := filepath.Join(dir, name)
			if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		status, _, stderr := cmdtest.Run(t, "", append([]string{"bundle", "install", "shop", dir}, r.args...)...)
		if refused := strings.Contains(r.files["manifests/a.yaml"], "refused"); refused != (status != 0) {
			t.Fatal(stderr)
		}
	}
	return server
}

// elsewhere is another machine, which has nothing of what was sent from the one before.
func elsewhere(t *testing.T) { t.Helper(); t.Setenv("XDG_CACHE_HOME", t.TempDir()) }

// has are the names of the ConfigMaps that are installed.
func has(server *kubetest.Server) string {
	var names []string
	for _, at := range server.Names("configmaps") {
		if strings.Contains(at, "/team/") {
			names = append(names, filepath.Base(at))
		}
	}
	return strings.Join(names, " ")
}

func decoded[T any](t *testing.T, text string) (v T) {
	t.Helper()
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		t.Fatal(err)
	}
	return v
}

// What an earlier revision had is wanted again, with a revision of its own: also by a server, as the instance says it.
// Without what was sent at hand, plain manifests come from the record, and a chart does not.
func TestRollback(t *testing.T) {
	for name, test := range map[string]struct {
		releases  []release
		args      string
		elsewhere bool
		want      string // what is installed then
		as        int    // the revision that this is like
		refusal   string
		status    int
	}{
		"to the one before": {releases: []release{plainly("one"), plainly("two")}, want: "one", as: 1},
		"to a revision": {
			releases: []release{plainly("one"), plainly("two"), plainly("three")}, args: "1", want: "one", as: 1,
		},
		"to what is installed": {
			releases: []release{plainly("one"), plainly("two")}, args: "2", want: "two", as: 2,
		},
		"after an attempt": {
			releases: []release{plainly("one"), plainly("two"), plainly("refused")}, want: "two", as: 2,
		},
		"on another machine": {
			releases: []release{plainly("one"), plainly("two")}, elsewhere: true, want: "one", as: 1,
		},
		"to the values of a chart": {releases: []release{charted("one"), charted("two")}, want: "one", as: 1},
		"to a chart":               {releases: []release{charted("one"), plainly("two")}, want: "one", as: 1},
		"to a chart whose bundle is there, on another machine": {
			releases: []release{charted("one"), unwatched("two")}, elsewhere: true, want: "one", as: 1,
		},
		"to a chart, on another machine": {
			releases: []release{charted("one"), plainly("two")}, elsewhere: true, want: "two", status: 3,
			refusal: "revision 1 of bundle shop cannot be installed again: it is a chart, and it was sent from",
		},
		"to an attempt": {
			releases: []release{plainly("one"), plainly("refused")}, args: "2", want: "one", status: 2,
			refusal: "revision 2 of bundle shop was not installed as a whole (failed)",
		},
		"nothing was installed before": {
			releases: []release{plainly("one")}, want: "one", status: 7,
			refusal: "nothing that was installed before is recorded of bundle shop",
		},
		"to one that is not recorded": {
			releases: []release{plainly("one"), plainly("two")}, args: "7", want: "two", status: 7,
			refusal: "bundle shop has no revision 7: it has 2, 1",
		},
		"of what is not installed": {status: 7, refusal: "bundle shop is not installed"},
		"only to see it": {
			releases: []release{plainly("one"), plainly("two")}, args: "--dry-run=client", want: "two", status: -1,
		},
	} {
		t.Run(name, func(t *testing.T) {
			server := installing(t, test.releases...)
			if test.elsewhere {
				elsewhere(t)
			}
			args := append([]string{"bundle", "rollback", "shop"}, strings.Fields(test.args)...)
			if test.status < 0 {
				out, _ := cmdtest.Must(t, 0, args...)
				if !strings.Contains(out, "# create configmap/one") ||
					!strings.Contains(out, "# delete configmap/two") {
					t.Error(out)
				}
			} else if out, stderr := cmdtest.Must(t, test.status, append(args, "-o", "json")...); test.status == 0 {
				i := decoded[v1.BundleInstallation](t, out)
				if i.RolledBackTo != test.as || !i.Healthy {
					t.Errorf("%+v", i)
				}
			} else if !strings.Contains(stderr, test.refusal) {
				t.Error(stderr)
			}
			if got := has(server); got != test.want {
				t.Errorf("it has %s, want %s", got, test.want)
			}
			if test.status == 0 { // a pass over all does not undo it
				cmdtest.Must(t, 0, "bundle", "reconcile")
			}
			if got := has(server); got != test.want {
				t.Errorf("after a pass, it has %s, want %s", got, test.want)
			}
		})
	}
}

// The history says what each revision was made of, and why one was not installed.
func TestHistory(t *testing.T) {
	home, _ := os.Getwd()
	installing(t, plainly("one"), charted("two"), plainly("refused"))
	out, _ := cmdtest.Must(t, 0, "bundle", "history", "shop", "-o", "json")
	t.Chdir(home)
	schematest.Validate(t, []byte(out))
	var got []string
	for _, r := range decoded[v1.BundleHistory](t, out).Items {
		got = append(got, strings.Join([]string{r.Status, r.Package, r.Version, r.Source}, "|"))
		if r.At.IsZero() || r.Objects != 1 || r.Bundle == "" || r.Digest == "" ||
			(r.Message != "") != (r.Status == "failed") {
			t.Errorf("%+v", r)
		}
	}
	want := "failed|||an upload deployed|web|1.2.3|an upload superseded|||an upload"
	if strings.Join(got, " ") != want {
		t.Errorf("%q", got)
	}
	if names, _ := cmdtest.Must(t, 0, "bundle", "history", "shop", "-o", "name"); names != "3\n2\n1\n" {
		t.Error(names)
	}
	cmdtest.Must(t, 7, "bundle", "history", "nosuch")
}
