// Package registrytest is a registry on loopback for the tests of what comes out of one. It takes whatever is pushed,
// and what a test puts into it.
package registrytest

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/opencontainers/go-digest"
	ocispec "github.com/opencontainers/image-spec/specs-go/v1"
)

// Registry has what was pushed. It implements http.Handler.
type Registry struct {
	// Host is its host and port. It is empty for one of New, whose server is the caller's.
	Host string
	// NoReferrers makes it one of before OCI 1.1, where an index has what refers to an image.
	NoReferrers bool

	mu      sync.Mutex
	content Content
	tags    map[string][]string // by repository
	uploads map[string][]byte
}

// Content is all that a registry has, to be recorded.
type Content struct {
	At    map[string][]byte // blobs and manifests, by path
	Types map[string]string // the media types of manifests, likewise
}

// New is a registry without a server.
func New() *Registry {
	return &Registry{
		content: Content{At: map[string][]byte{}, Types: map[string]string{}},
		tags:    map[string][]string{}, uploads: map[string][]byte{},
	}
}

// Start is a registry until the test ends. It has no TLS.
func Start(t testing.TB) *Registry {
	t.Helper()
	r := New()
	server := httptest.NewServer(r)
	t.Cleanup(server.Close)
	r.Host = strings.TrimPrefix(server.URL, "http://")
	return r
}

// Content is what the registry has.
func (r *Registry) Content() Content { return r.content }

// Load makes a registry have what was recorded of one.
func (r *Registry) Load(c Content) { r.content = c }

// ServeHTTP implements http.Handler: what the distribution specification says of pushing, in one piece or in several,
// of pulling, of tags and of what refers to an image.
func (r *Registry) ServeHTTP(w http.ResponseWriter, q *http.Request) {
	body, _ := io.ReadAll(q.Body)
	r.mu.Lock()
	defer r.mu.Unlock()
	repository, upload, isUpload := strings.Cut(q.URL.Path, "/blobs/uploads/")
	dir, name, isManifest := strings.Cut(q.URL.Path, "/manifests/")
	_, subject, isReferrers := strings.Cut(q.URL.Path, "/referrers/")
	switch {
	case isUpload:
		r.upload(w, q, repository, upload, body)
	case q.Method == http.MethodPut && isManifest:
		d := r.put(dir, name, q.Header.Get("Content-Type"), body)
		w.Header().Set("Docker-Content-Digest", d.Digest.String())
		if !r.NoReferrers {
			w.Header().Set("OCI-Subject", "any")
		}
		w.WriteHeader(http.StatusCreated)
	case isReferrers && !r.NoReferrers:
		w.Header().Set("Content-Type", ocispec.MediaTypeImageIndex)
		_ = json.NewEncoder(w).Encode(r.referrers(subject))
	case strings.HasSuffix(q.URL.Path, "/tags/list"):
		dir := strings.TrimSuffix(q.URL.Path, "/tags/list")
		_ = json.NewEncoder(w).Encode(map[string]any{"name": strings.TrimPrefix(dir, "/v2/"), "tags": r.tags[dir]})
	case q.URL.Path == "/v2/":
	default:
		r.pull(w, q.URL.Path, isManifest)
	}
}

// upload takes a blob, or a piece of one.
func (r *Registry) upload(w http.ResponseWriter, q *http.Request, repository, upload string, body []byte) {
	status := http.StatusAccepted
	switch q.Method {
	case http.MethodPost:
		upload = strconv.Itoa(len(r.uploads))
		r.uploads[upload] = nil
	case http.MethodPatch:
		r.uploads[upload] = append(r.uploads[upload], body...)
	case http.MethodPut:
		r.content.At[repository+"/blobs/"+q.URL.Query().Get("digest")] = slices.Concat(r.uploads[upload], body)
		status = http.StatusCreated
	}
	w.Header().Set("Location", repository+"/blobs/uploads/"+upload)
	w.WriteHeader(status)
}

// pull answers with a blob or a manifest.
func (r *Registry) pull(w http.ResponseWriter, path string, isManifest bool) {
	found, ok := r.content.At[path]
	if !ok {
		w.WriteHeader(http.StatusNotFound)
		return
	}
	if isManifest {
		w.Header().Set("Content-Type", r.content.Types[path])
		w.Header().Set("Docker-Content-Digest", digest.FromBytes(found).String())
	}
	w.Header().Set("Content-Length", strconv.Itoa(len(found)))
	_, _ = w.Write(found)
}

// put keeps a manifest, by its tag and by its digest.
func (r *Registry) put(dir, tag, mediaType string, text []byte) ocispec.Descriptor {
	d := ocispec.Descriptor{MediaType: mediaType, Digest: digest.FromBytes(text), Size: int64(len(text))}
	for _, name := range []string{tag, d.Digest.String()} {
		r.content.At[dir+"/manifests/"+name], r.content.Types[dir+"/manifests/"+name] = text, mediaType
	}
	if !strings.Contains(tag, ":") && !slices.Contains(r.tags[dir], tag) {
		r.tags[dir] = append(r.tags[dir], tag)
	}
	return d
}

// referrers are the manifests that have something as their subject.
func (r *Registry) referrers(subject string) ocispec.Index {
	index := ocispec.Index{MediaType: ocispec.MediaTypeImageIndex, Manifests: []ocispec.Descriptor{}}
	index.SchemaVersion = 2
	for path, text := range r.content.At {
		var m ocispec.Manifest
		if !strings.Contains(path, "/manifests/sha256:") || json.Unmarshal(text, &m) != nil || m.Subject == nil ||
			m.Subject.Digest.String() != subject {
			continue
		}
		index.Manifests = append(index.Manifests, ocispec.Descriptor{
			MediaType: r.content.Types[path], Digest: digest.FromBytes(text), Size: int64(len(text)),
			ArtifactType: m.ArtifactType,
		})
	}
	slices.SortFunc(index.Manifests, func(a, b ocispec.Descriptor) int {
		return strings.Compare(a.Digest.String(), b.Digest.String())
	})
	return index
}
