package source_test

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"github.com/opencontainers/go-digest"
	ocispec "github.com/opencontainers/image-spec/specs-go/v1"

	"github.com/berthdev/berth/api/bundle/v1alpha1"
	"github.com/berthdev/berth/internal/bundle/source"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/registrytest"
)

// bomb is a great deal of one text with gzip.
func bomb(t *testing.T, text string, times int) []byte {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	if _, err := io.Copy(w, io.LimitReader(&repeated{text: text}, int64(times*len(text)))); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// What a chart repository sends takes bounded bytes and requests, and what is wrong with it is said in a few words,
// also to a server, which keeps indexes.
func TestHostileRepositories(t *testing.T) {
	archive := chartArchive(t, "1.2.3")
	zipped := bomb(t, "entries:\n  app:\n  - version: 1.2.3\n", 1<<20)
	index := func(entries string) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			switch {
			case r.URL.Path == "/index.yaml":
				_, _ = io.WriteString(w, "entries:\n  app:\n"+entries)
			case r.URL.Path == "/app.tgz":
				_, _ = w.Write(archive)
			case r.URL.Path == "/bomb.tgz":
				_, _ = w.Write(zipped)
			case r.URL.Path == "/endless.tgz":
				_, _ = io.Copy(w, &repeated{text: string(archive)})
			case r.URL.Path == "/announced.tgz":
				w.Header().Set("Content-Length", strconv.Itoa(1<<40))
			case strings.HasPrefix(r.URL.Path, "/loop"):
				http.Redirect(w, r, r.URL.Path+"x", http.StatusFound)
			case r.URL.Path == "/file":
				http.Redirect(w, r, "file:///etc/passwd", http.StatusFound)
			default:
				w.WriteHeader(http.StatusNotFound)
			}
		}
	}
	of := func(more string) http.HandlerFunc { return index("  - version: 1.2.3\n    " + more + "\n") }
	long := "1.2.4+" + strings.Repeat("x", 100<<10)
	for name, test := range map[string]struct {
		serve http.HandlerFunc
		says  string
	}{
		"an index that is announced": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", strconv.Itoa(1<<40))
		}, "/index.yaml: it has 1099511627776 bytes, more than the 52428800 that are fetched"},
		"an index without an end": {func(w http.ResponseWriter, _ *http.Request) {
			_, _ = io.Copy(w, &repeated{text: "entries:\n"})
		}, "it has entries twice"},
		"an index of comments": {func(w http.ResponseWriter, _ *http.Request) {
			_, _ = io.Copy(w, &repeated{text: "# nothing\n"})
		}, "it is larger than 50 MiB"},
		"an index with gzip that was not asked for": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Encoding", "gzip")
			_, _ = w.Write(zipped)
		}, "it has no entries"},
		"an index that is cut off": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "1000")
			_, _ = io.WriteString(w, "entries:\n  app:\n  - version: 1.2.3\n    urls: [app.tgz]\n")
		}, "unexpected EOF"},
		"an index in a circle": {func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, r.URL.Path, http.StatusFound)
		}, "stopped after 5 redirects"},
		"an index in a file": {func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "file:///etc/passwd", http.StatusFound)
		}, "unsupported protocol scheme"},
		"no versions": {index("  - {version: new, urls: [app.tgz]}\n"), `no version "*", and no other`},
		"a version of 100 KiB": {
			index("  - {version: " + long + ", urls: [app.tgz]}\n"), `no version "*", and no other`,
		},
		"a list as a version":  {of("version: [1]"), "a version of the chart \"app\""},
		"no URLs":              {of("urls: []"), "version 1.2.3 has no URL"},
		"an invalid URL":       {of("urls: ['http://[']"), "version 1.2.3 has an invalid URL"},
		"a file":               {of("urls: ['file:///etc/passwd']"), "not one of https without a login"},
		"a program":            {of("urls: ['javascript:alert(1)']"), "not one of https without a login"},
		"another protocol":     {of("urls: ['ftp://127.0.0.1/x']"), "not one of https without a login"},
		"no host":              {of("urls: ['http:///x']"), "not one of https without a login"},
		"a login":              {of("urls: ['http://a:hunter2@127.0.0.1/x']"), "not one of https without a login"},
		"a circle":             {of("urls: [loop]"), "stopped after 5 redirects"},
		"a file by a redirect": {of("urls: [file]"), "unsupported protocol scheme"},
		"another digest": {
			of("urls: [app.tgz]\n    digest: " + digest.FromString("x").Encoded()), "is not the one of the index",
		},
		"an unknown digest": {
			of("urls: [app.tgz]\n    digest: " + digest.SHA512.FromBytes(archive).String()),
			"is not the one of the index",
		},
		"a digest of nothing": {of("urls: [app.tgz]\n    digest: 'sha256:'"), "is not the one of the index"},
		"a long digest": {
			of("urls: [app.tgz]\n    digest: " + strings.Repeat("x", 100<<10)), "is not the one of the index",
		},
		"a bomb":                       {of("urls: [bomb.tgz]"), "/bomb.tgz: "},
		"an archive without an end":    {of("urls: [endless.tgz]"), "/endless.tgz: the archive has data after its end"},
		"an archive that is announced": {of("urls: [announced.tgz]"), "it has 1099511627776 bytes"},
	} {
		t.Run(name, func(t *testing.T) {
			at := serve(t, test.serve)
			for _, keeps := range []*source.Indexes{nil, {}} {
				f := newFetcher(t)
				f.Indexes = keeps
				f.Limits.Compressed = 1 << 20
				_, _, err := f.Fetch(t.Context(), ofChart(at, "", ""))
				refusedBriefly(t, err, test.says)
				if keeps != nil {
					keeps.Close()
				}
			}
		})
	}
}

// refusedBriefly makes sure of an error that says what to do, and does not repeat what a server sends.
func refusedBriefly(t *testing.T, err error, says string) {
	t.Helper()
	if err == nil || !strings.Contains(err.Error(), says) || fault.From(err).Hint == "" || len(err.Error()) > 4<<10 ||
		strings.Contains(err.Error(), "hunter2") {
		t.Errorf("%.5000v", err)
	}
}

// Of two entries of one version, the first is taken, as helm does.
func TestSameVersionTwice(t *testing.T) {
	at := serve(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/index.yaml":
			_, _ = io.WriteString(w, "entries:\n  app:\n  - {version: 1.2.3, urls: [first.tgz]}\n"+
				"  - {version: 1.2.3, urls: [second.tgz]}\n")
		case "/first.tgz":
			_, _ = w.Write(chartArchive(t, "1.2.3"))
		default:
			w.WriteHeader(http.StatusNotFound)
		}
	})
	c, _, err := newFetcher(t).Fetch(t.Context(), ofChart(at, "1.2.3", ""))
	if err != nil {
		t.Fatal(err)
	}
	_ = c.Close()
}

const (
	typeConfig = "application/vnd.cncf.helm.config.v1+json"
	typeChart  = "application/vnd.cncf.helm.chart.content.v1.tar+gzip"
)

// A chart of a registry that lies is not taken, and one whose layers are in another order is.
func TestHostileRegistries(t *testing.T) {
	archive := chartArchive(t, "1.2.3")
	for name, test := range map[string]struct {
		push func(r registrytest.Repository, config, layer ocispec.Descriptor)
		says string
	}{
		"layers in another order": {push: func(r registrytest.Repository, config, layer ocispec.Descriptor) {
			prov := r.Blob("application/vnd.cncf.helm.chart.provenance.v1.prov", []byte("unread"))
			other := r.Blob("text/plain", []byte("unknown"))
			r.Manifest("v1", ocispec.Manifest{Config: config, Layers: []ocispec.Descriptor{other, prov, layer}})
		}},
		"a size that is too small": {push: func(r registrytest.Repository, config, layer ocispec.Descriptor) {
			layer.Size--
			r.Manifest("v1", ocispec.Manifest{Config: config, Layers: []ocispec.Descriptor{layer}})
		}, says: "the archive is incomplete"},
		"a size that is too large": {push: func(r registrytest.Repository, config, layer ocispec.Descriptor) {
			layer.Size++
			r.Manifest("v1", ocispec.Manifest{Config: config, Layers: []ocispec.Descriptor{layer}})
		}, says: "ends too early"},
		"a size beyond all bounds": {push: func(r registrytest.Repository, config, layer ocispec.Descriptor) {
			layer.Size = 1 << 62
			r.Manifest("v1", ocispec.Manifest{Config: config, Layers: []ocispec.Descriptor{layer}})
		}, says: "has layers of more than"},
		"another archive": {push: func(r registrytest.Repository, config, layer ocispec.Descriptor) {
			r.Manifest("v1", ocispec.Manifest{Config: config, Layers: []ocispec.Descriptor{layer}})
			r.Replace(layer.Digest, append(bytes.Clone(archive), archive...)[:layer.Size+1])
		}, says: "sends something else than it was asked"},
		"an archive without an end": {push: func(r registrytest.Repository, config, layer ocispec.Descriptor) {
			r.Manifest("v1", ocispec.Manifest{Config: config, Layers: []ocispec.Descriptor{layer}})
			r.Replace(layer.Digest, append(bytes.Clone(archive), make([]byte, 8<<20)...))
		}, says: "sends something else than it was asked"},
		"a bomb": {push: func(r registrytest.Repository, config, _ ocispec.Descriptor) {
			layer := r.Blob(typeChart, bomb(t, strings.Repeat("\x00", 512), 1<<16))
			r.Manifest("v1", ocispec.Manifest{Config: config, Layers: []ocispec.Descriptor{layer}})
		}, says: "chart "},
		"an archive that is gone": {push: func(r registrytest.Repository, config, _ ocispec.Descriptor) {
			layer := ocispec.Descriptor{MediaType: typeChart, Digest: digest.FromString("gone"), Size: 4}
			r.Manifest("v1", ocispec.Manifest{Config: config, Layers: []ocispec.Descriptor{layer}})
		}, says: "not found"},
		"an unknown type of layers": {push: func(r registrytest.Repository, config, layer ocispec.Descriptor) {
			layer.MediaType = "text/html"
			r.Manifest("v1", ocispec.Manifest{Config: config, Layers: []ocispec.Descriptor{layer}})
		}, says: "a chart with 0 archives, not one"},
		"a chart as the layer of an image": {push: func(r registrytest.Repository, _, layer ocispec.Descriptor) {
			r.Manifest("v1", ocispec.Manifest{
				Config: r.Blob(ocispec.MediaTypeImageConfig, []byte("{}")), Layers: []ocispec.Descriptor{layer},
			})
		}, says: "its layer 1 has the type"},
		"an unknown type of manifests": {push: func(r registrytest.Repository, _, _ ocispec.Descriptor) {
			r.Put("v1", "text/html", []byte("<html>"))
		}, says: `its manifest has the media type "text/html"`},
		"no manifest": {push: func(r registrytest.Repository, _, _ ocispec.Descriptor) {
			r.Put("v1", ocispec.MediaTypeImageManifest, []byte("[[[["))
		}, says: "its manifest is not valid"},
		"an index of itself": {push: func(r registrytest.Repository, _, _ ocispec.Descriptor) {
			for range 5 {
				d := r.Find("v1")
				r.Index("v1", d)
			}
		}, says: "is not an image that can be read"},
	} {
		t.Run(name, func(t *testing.T) {
			r := registrytest.Start(t).Repository("org/app")
			test.push(r, r.Blob(typeConfig, []byte("no JSON")), r.Blob(typeChart, archive))
			f, _ := onCluster(t)
			c, _, err := f.Fetch(t.Context(), ofImage(r.Ref(":v1"), ""))
			if test.says == "" {
				if err != nil {
					t.Fatal(err)
				}
				_ = c.Close()
				return
			}
			refusedBriefly(t, err, test.says)
		})
	}
}

// A range of versions is chosen from the tags that are versions, however many others there are.
func TestHostileTags(t *testing.T) {
	r := registrytest.Start(t).Repository("org/app")
	manifest := ocispec.Manifest{
		Config: r.Blob(typeConfig, []byte(`{"name":"app","version":"1.2.3"}`)),
		Layers: []ocispec.Descriptor{r.Blob(typeChart, chartArchive(t, "1.2.3"))},
	}
	r.Manifest("9.9.9_"+strings.Repeat("x", 1<<20), manifest)
	for i := range 1000 {
		r.Manifest(fmt.Sprintf("latest-%d", i), manifest)
	}
	s := v1alpha1.Source{Type: v1alpha1.SourceImage, Image: &v1alpha1.ImageSource{Ref: r.Ref(""), Version: ">=1"}}
	f, _ := onCluster(t)
	_, _, err := f.Fetch(t.Context(), s)
	refusedBriefly(t, err, `has no version ">=1", and no other`)
	r.Manifest("1.2.3", manifest)
	c, _, err := f.Fetch(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	_ = c.Close()
}
