package signature_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/opencontainers/go-digest"
	ocispec "github.com/opencontainers/image-spec/specs-go/v1"

	"github.com/berthdev/berth/internal/registry/pull"
)

// registry is one on loopback that takes whatever is pushed, and knows what refers to what.
type registry struct {
	*httptest.Server
	mu      sync.Mutex
	at      map[string][]byte // by path
	types   map[string]string
	uploads map[string][]byte
	// noReferrers is true for one of before OCI 1.1, where an index has what refers to an image.
	noReferrers bool
}

func newRegistry(t testing.TB) *registry {
	t.Helper()
	r := &registry{at: map[string][]byte{}, types: map[string]string{}, uploads: map[string][]byte{}}
	r.Server = httptest.NewServer(r)
	t.Cleanup(r.Close)
	return r
}

// host is its name in references.
func (r *registry) host() string { return strings.TrimPrefix(r.URL, "http://") }

// ServeHTTP implements http.Handler.
func (r *registry) ServeHTTP(w http.ResponseWriter, q *http.Request) {
	r.mu.Lock()
	defer r.mu.Unlock()
	body, _ := io.ReadAll(q.Body)
	repository, upload, isUpload := strings.Cut(q.URL.Path, "/blobs/uploads/")
	dir, name, isManifest := strings.Cut(q.URL.Path, "/manifests/")
	_, subject, isReferrers := strings.Cut(q.URL.Path, "/referrers/")
	switch {
	case q.Method == http.MethodPost && isUpload:
		w.Header().Set("Location", fmt.Sprintf("%s/blobs/uploads/%d", repository, len(r.uploads)))
		r.uploads[fmt.Sprint(len(r.uploads))] = nil
		w.WriteHeader(http.StatusAccepted)
	case q.Method == http.MethodPatch && isUpload:
		r.uploads[upload] = append(r.uploads[upload], body...)
		w.Header().Set("Location", q.URL.Path)
		w.WriteHeader(http.StatusAccepted)
	case q.Method == http.MethodPut && isUpload:
		r.at[repository+"/blobs/"+q.URL.Query().Get("digest")] = slices.Concat(r.uploads[upload], body)
		w.WriteHeader(http.StatusCreated)
	case q.Method == http.MethodPut && isManifest:
		d := r.put(dir, name, q.Header.Get("Content-Type"), body)
		w.Header().Set("Docker-Content-Digest", d.Digest.String())
		if !r.noReferrers {
			w.Header().Set("OCI-Subject", "any")
		}
		w.WriteHeader(http.StatusCreated)
	case isReferrers && !r.noReferrers:
		w.Header().Set("Content-Type", ocispec.MediaTypeImageIndex)
		_ = json.NewEncoder(w).Encode(r.referrers(subject))
	case q.URL.Path == "/v2/":
	case r.at[q.URL.Path] == nil:
		w.WriteHeader(http.StatusNotFound)
	default:
		if isManifest {
			w.Header().Set("Content-Type", r.types[q.URL.Path])
			w.Header().Set("Docker-Content-Digest", digest.FromBytes(r.at[q.URL.Path]).String())
		}
		w.Header().Set("Content-Length", fmt.Sprint(len(r.at[q.URL.Path])))
		_, _ = w.Write(r.at[q.URL.Path])
	}
}

// put keeps a manifest, by a name and by its digest.
func (r *registry) put(dir, name, mediaType string, text []byte) ocispec.Descriptor {
	d := ocispec.Descriptor{MediaType: mediaType, Digest: digest.FromBytes(text), Size: int64(len(text))}
	for _, name := range []string{name, d.Digest.String()} {
		r.at[dir+"/manifests/"+name], r.types[dir+"/manifests/"+name] = text, mediaType
	}
	return d
}

// referrers are the manifests that have something as their subject.
func (r *registry) referrers(subject string) ocispec.Index {
	index := ocispec.Index{MediaType: ocispec.MediaTypeImageIndex, Manifests: []ocispec.Descriptor{}}
	index.SchemaVersion = 2
	for path, text := range r.at {
		var m ocispec.Manifest
		if !strings.Contains(path, "/manifests/sha256:") || json.Unmarshal(text, &m) != nil || m.Subject == nil ||
			m.Subject.Digest.String() != subject {
			continue
		}
		index.Manifests = append(index.Manifests, ocispec.Descriptor{
			MediaType: r.types[path], Digest: digest.FromBytes(text), Size: int64(len(text)),
			ArtifactType: m.ArtifactType,
		})
	}
	slices.SortFunc(index.Manifests, func(a, b ocispec.Descriptor) int {
		return strings.Compare(a.Digest.String(), b.Digest.String())
	})
	return index
}

const app = "/v2/org/app"

// blob keeps a blob of org/app.
func (r *registry) blob(mediaType string, text []byte) ocispec.Descriptor {
	d := ocispec.Descriptor{MediaType: mediaType, Digest: digest.FromBytes(text), Size: int64(len(text))}
	r.at[app+"/blobs/"+d.Digest.String()] = text
	return d
}

// manifest keeps a manifest of org/app under a tag.
func (r *registry) manifest(tag string, m ocispec.Manifest) ocispec.Descriptor {
	m.SchemaVersion, m.MediaType = 2, ocispec.MediaTypeImageManifest
	text, _ := json.Marshal(m)
	return r.put(app, tag, ocispec.MediaTypeImageManifest, text)
}

// image keeps an image of org/app, which differs by what is in it.
func (r *registry) image(tag, content string) ocispec.Descriptor {
	return r.manifest(tag, ocispec.Manifest{
		Config: r.blob(ocispec.MediaTypeImageConfig, []byte("{}")),
		Layers: []ocispec.Descriptor{r.blob(ocispec.MediaTypeImageLayer, []byte(content))},
	})
}

// resolve finds an image of org/app.
func (r *registry) resolve(t testing.TB, suffix string) *pull.Image {
	t.Helper()
	image, err := pull.Puller{
		Platform: "linux/amd64", Silence: time.Minute,
		Limits: pull.Limits{Transfer: 1 << 20, Unpacked: 1 << 20, Entries: 100},
	}.Resolve(t.Context(), r.host()+"/org/app"+suffix)
	if err != nil {
		t.Fatal(err)
	}
	return image
}
