package dependency_test

import (
	"archive/tar"
	"bytes"
	"cmp"
	"compress/gzip"
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/opencontainers/go-digest"
	ocispec "github.com/opencontainers/image-spec/specs-go/v1"

	"github.com/berthdev/berth/internal/bundle/content"
	"github.com/berthdev/berth/internal/bundle/dependency"
	"github.com/berthdev/berth/internal/bundle/source"
	"github.com/berthdev/berth/internal/fault"
)

// files are those of a directory, by their paths.
type files map[string]string

// chartOf are the files of a chart that depends on others.
func chartOf(name, version string, dependencies ...string) files {
	text := "apiVersion: v2\nname: " + name + "\nversion: " + version + "\n"
	if len(dependencies) > 0 {
		text += "dependencies:\n"
	}
	for _, d := range dependencies {
		text += "- {" + d + "}\n"
	}
	return files{
		"Chart.yaml":       text,
		"templates/a.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: of-" + name + "}\n",
	}
}

// with are the files and others, which are in a directory.
func (f files) with(dir string, others files) files {
	all := maps.Clone(f)
	for name, text := range others {
		all[filepath.Join(dir, name)] = text
	}
	return all
}

// archive packs files in a directory.
func (f files) archive(t *testing.T, dir string) []byte {
	t.Helper()
	var b bytes.Buffer
	compressed := gzip.NewWriter(&b)
	w := tar.NewWriter(compressed)
	for _, name := range slices.Sorted(maps.Keys(f)) {
		header := &tar.Header{Name: filepath.Join(dir, name), Mode: 0o644, Size: int64(len(f[name]))}
		if err := w.WriteHeader(header); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write([]byte(f[name])); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := compressed.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// write writes files into a new directory.
func (f files) write(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range f {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// server is a chart repository and a registry at once, which keeps the requests that it was sent.
type server struct {
	url     string
	at      map[string][]byte
	index   map[string][]string // versions of charts, which are the tags of /oci/NAME, too
	leads   map[string]string   // charts, to where the index says that they are instead
	asked   []string
	login   string // that is required, user:password
	mislead func(w http.ResponseWriter, r *http.Request) bool
}

func newServer(t *testing.T) *server {
	t.Helper()
	s := &server{at: map[string][]byte{}, index: map[string][]string{}}
	listening := httptest.NewServer(s)
	t.Cleanup(listening.Close)
	s.url = listening.URL
	return s
}

// add puts a chart into the repository at /charts, and into the registry at /oci.
func (s *server) add(t *testing.T, name, version string, f files) {
	t.Helper()
	archive := f.archive(t, name)
	s.index[name] = append(s.index[name], version)
	s.at["/charts/"+name+"-"+version+".tgz"] = archive
	config := []byte(`{"name":"` + name + `","version":"` + version + `","apiVersion":"v2"}`)
	manifest := ocispec.Manifest{
		Config: ocispec.Descriptor{
			MediaType: "application/vnd.cncf.helm.config.v1+json", Digest: digest.FromBytes(config),
			Size: int64(len(config)),
		},
		Layers: []ocispec.Descriptor{{
			MediaType: "application/vnd.cncf.helm.chart.content.v1.tar+gzip",
			Digest:    digest.FromBytes(archive), Size: int64(len(archive)),
		}},
	}
	manifest.SchemaVersion = 2
	text, err := json.Marshal(manifest)
	if err != nil {
		t.Fatal(err)
	}
	repository := "/v2/oci/" + name
	s.at[repository+"/manifests/"+version] = text
	s.at[repository+"/manifests/"+digest.FromBytes(text).String()] = text
	for _, blob := range [][]byte{config, archive} {
		s.at[repository+"/blobs/"+digest.FromBytes(blob).String()] = blob
	}
}

// ServeHTTP implements http.Handler.
func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.asked = append(s.asked, r.URL.Path)
	if s.mislead != nil && s.mislead(w, r) {
		return
	}
	if username, password, _ := r.BasicAuth(); s.login != "" && username+":"+password != s.login {
		w.Header().Set("WWW-Authenticate", `Basic realm="x"`)
		w.WriteHeader(http.StatusUnauthorized)
		return
	}
	switch {
	case r.URL.Path == "/charts/index.yaml":
		_, _ = fmt.Fprint(w, "apiVersion: v1\nentries:\n")
		for _, name := range slices.Sorted(maps.Keys(s.index)) {
			_, _ = fmt.Fprintf(w, "  %s:\n", name)
			for _, version := range s.index[name] {
				_, _ = fmt.Fprintf(w, "  - apiVersion: v2\n    name: %s\n    version: %s\n    urls: ['%s']\n",
					name, version, cmp.Or(s.leads[name], name+"-"+version+".tgz"))
			}
		}
	case strings.HasSuffix(r.URL.Path, "/tags/list"):
		_ = json.NewEncoder(w).Encode(map[string]any{
			"name": "x", "tags": s.index[strings.Split(r.URL.Path, "/")[3]],
		})
	case s.at[r.URL.Path] == nil:
		w.WriteHeader(http.StatusNotFound)
	default:
		if strings.Contains(r.URL.Path, "/manifests/") {
			w.Header().Set("Content-Type", ocispec.MediaTypeImageManifest)
			w.Header().Set("Docker-Content-Digest", digest.FromBytes(s.at[r.URL.Path]).String())
		}
		w.Header().Set("Content-Length", fmt.Sprint(len(s.at[r.URL.Path])))
		_, _ = w.Write(s.at[r.URL.Path])
	}
}

// requests are the requests that were sent since the last time.
func (s *server) requests() string {
	asked := strings.Join(s.asked, " ")
	s.asked = nil
	return asked
}

// repository is a dependency on a chart of the repository.
func (s *server) repository(name, version string) string {
	return "name: " + name + ", version: '" + version + "', repository: '" + s.url + "/charts'"
}

// registry is a dependency on a chart of the registry.
func (s *server) registry(name, version string) string {
	host := strings.TrimPrefix(s.url, "http://")
	return "name: " + name + ", version: '" + version + "', repository: 'oci://" + host + "/oci'"
}

// newFetcher is one at a terminal, whose user has an empty home.
func newFetcher(t *testing.T) source.Fetcher {
	t.Helper()
	home := t.TempDir()
	return source.Fetcher{
		Cache: content.NewCache(t.TempDir(), content.DefaultCacheSize), Limits: content.DefaultLimits(),
		Getenv: func(name string) string { return map[string]string{"HOME": home}[name] },
	}
}

// ofDirectory is the content of files, with what their chart depends on.
func ofDirectory(ctx context.Context, t *testing.T, f source.Fetcher, all files) (*content.Content, error) {
	t.Helper()
	return dependency.Local(ctx, f, all.write(t), nil)
}

// ofPath is that of a directory.
func ofPath(t *testing.T, f source.Fetcher, path string) (*content.Content, error) {
	t.Helper()
	return dependency.Local(t.Context(), f, path, nil)
}

// names are those of the files of content, without the templates.
func names(t *testing.T, c *content.Content) string {
	t.Helper()
	var names []string
	err := fs.WalkDir(c.FS(), ".", func(name string, entry fs.DirEntry, err error) error {
		if err == nil && !entry.IsDir() && !strings.Contains(name, "templates/") {
			names = append(names, name)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return strings.Join(names, " ")
}

// says is whether an error has a code, and all of some texts in what is shown of it.
func says(err error, code fault.Code, texts ...string) bool {
	if err == nil || fault.CodeOf(err) != code || fault.From(err).Hint == "" {
		return false
	}
	shown := err.Error() + "\n" + strings.Join(fault.From(err).Problems, "\n")
	return !slices.ContainsFunc(texts, func(text string) bool { return !strings.Contains(shown, text) })
}
