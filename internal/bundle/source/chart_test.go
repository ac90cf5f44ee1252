package source_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"io/fs"
	"net/http"
	"strings"
	"testing"

	ocispec "github.com/opencontainers/image-spec/specs-go/v1"

	"github.com/berthdev/berth/internal/bundle/content"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/registrytest"
)

// chartArchive is a chart as `helm package` makes it.
func chartArchive(t *testing.T, version string, more ...string) []byte {
	t.Helper()
	var b bytes.Buffer
	compressed := gzip.NewWriter(&b)
	w := tar.NewWriter(compressed)
	files := append([]string{
		"app/Chart.yaml", "apiVersion: v2\nname: app\nversion: " + version + "\n",
		"app/templates/a.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n",
	}, more...)
	for i := 0; i < len(files); i += 2 {
		if err := w.WriteHeader(&tar.Header{Name: files[i], Mode: 0o644, Size: int64(len(files[i+1]))}); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write([]byte(files[i+1])); err != nil {
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

// chartRegistry serves the chart org/app in some versions.
func chartRegistry(t *testing.T, versions ...string) (ref string) {
	t.Helper()
	ref, _ = countingRegistry(t, versions...)
	return ref
}

// countingRegistry is chartRegistry, with the paths of all requests.
func countingRegistry(t *testing.T, versions ...string) (ref string, requests func() []string) {
	t.Helper()
	registry := registrytest.New()
	app := registry.Repository("org/app")
	for _, version := range versions {
		app.Manifest(strings.ReplaceAll(version, "+", "_"), ocispec.Manifest{
			Config: app.Blob(typeConfig, []byte(`{"name":"app"}`)),
			Layers: []ocispec.Descriptor{app.Blob(typeChart, chartArchive(t, version))},
		})
	}
	app.Put("latest", ocispec.MediaTypeImageManifest, []byte("{}"))
	var asked []string
	url := serve(t, func(w http.ResponseWriter, r *http.Request) {
		asked = append(asked, r.URL.Path)
		registry.ServeHTTP(w, r)
	})
	return strings.TrimPrefix(url, "http://") + "/org/app", func() []string { return asked }
}

// versionOf is the version of the chart that content is.
func versionOf(t *testing.T, c *content.Content) string {
	t.Helper()
	text, err := fs.ReadFile(c.FS(), "app/Chart.yaml")
	if err != nil {
		t.Fatal(err)
	}
	_, version, _ := strings.Cut(string(text), "version: ")
	return strings.TrimSpace(version)
}

// A chart that helm has pushed is content, of the version that is wanted, and pinned to its digest.
func TestChart(t *testing.T) {
	ref := chartRegistry(t, "1.2.3", "1.10.0", "2.0.0-rc.1", "1.3.0+build.1")
	for name, test := range map[string]struct {
		tag, version string
		want         string
		code         fault.Code
		says         string
	}{
		"a tag":          {tag: ":1.2.3", want: "1.2.3"},
		"a tag with a +": {tag: ":1.3.0+build.1", want: "1.3.0+build.1"},
		"a range":        {version: "^1", want: "1.10.0"},
		"a version":      {version: "1.2.3", want: "1.2.3"},
		"with a build":   {version: "1.3.0+build.1", want: "1.3.0+build.1"},
		"no pre-release": {version: "*", want: "1.10.0"},
		"a pre-release":  {version: ">=1-0", want: "2.0.0-rc.1"},
		"nothing that fits": {
			version: "~4", code: fault.NotFound,
			says: `has no version "~4"; the newest are 2.0.0-rc.1`,
		},
		"both":     {tag: ":1.2.3", version: "1.2.3", code: fault.InvalidArgument, says: "leave out"},
		"no range": {version: "new", code: fault.InvalidArgument, says: "neither a version"},
	} {
		t.Run(name, func(t *testing.T) {
			f, _ := onCluster(t)
			s := ofImage(ref+test.tag, "")
			s.Image.Version = test.version
			c, resolved, err := f.Fetch(t.Context(), s)
			if test.code != "" {
				if fault.CodeOf(err) != test.code || !strings.Contains(err.Error()+fault.From(err).Hint, test.says) {
					t.Errorf("%s: %v", fault.CodeOf(err), err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			if got := versionOf(t, c); got != test.want {
				t.Errorf("%s, not %s", got, test.want)
			}
			if !strings.HasPrefix(resolved.Image.Ref, ref+"@sha256:") || resolved.Image.Version != "" {
				t.Errorf("%+v", resolved.Image)
			}
			again, _, err := f.Fetch(t.Context(), resolved)
			if err != nil {
				t.Fatal(err)
			}
			defer again.Close()
			if again.Digest != c.Digest {
				t.Errorf("%s, then %s", c.Digest, again.Digest)
			}
		})
	}
}

// A version that is written out is one request for its tag, and one for the archive: the tags, of which there may be
// thousands, are listed for a range alone.
func TestRequestsOfAChart(t *testing.T) {
	for version, want := range map[string]string{
		"1.2.3":         "manifests/1.2.3 blobs",
		"1.3.0+build.1": "manifests/1.3.0_build.1 blobs",
		"9.9.9":         "manifests/9.9.9",
		"^1":            "tags/list manifests/1.3.0_build.1 blobs",
		"=1.2.3":        "tags/list manifests/1.2.3 blobs",
	} {
		ref, requests := countingRegistry(t, "1.2.3", "1.3.0+build.1")
		f, _ := onCluster(t)
		s := ofImage(ref, "")
		s.Image.Version = version
		c, _, err := f.Fetch(t.Context(), s)
		if err == nil {
			_ = c.Close()
		} else if fault.CodeOf(err) != fault.NotFound || !strings.Contains(err.Error(), ref+":"+version) {
			t.Errorf("%s: %v", version, err)
		}
		var got []string
		for _, path := range requests() {
			path, _, _ = strings.Cut(strings.TrimPrefix(path, "/v2/org/app/"), "/sha256:")
			got = append(got, path)
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s: %q, not %s", version, got, want)
		}
	}
}
