// Package registrytest is a registry on loopback that takes whatever is pushed to it, for the tests of what comes out
// of one.
package registrytest

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/opencontainers/go-digest"
	ocispec "github.com/opencontainers/image-spec/specs-go/v1"
)

// Start is a registry until the test ends. It returns its host and port; it has no TLS.
func Start(t testing.TB) string {
	t.Helper()
	server := httptest.NewServer(&pushed{at: map[string][]byte{}, tags: map[string][]string{}})
	t.Cleanup(server.Close)
	return strings.TrimPrefix(server.URL, "http://")
}

// pushed is what has been pushed to a registry.
type pushed struct {
	mu      sync.Mutex
	uploads int
	at      map[string][]byte   // blobs and manifests, by path
	tags    map[string][]string // by repository, quoted
}

// ServeHTTP implements http.Handler: what the distribution specification says of pushing in one piece, and of pulling.
func (p *pushed) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	p.mu.Lock()
	defer p.mu.Unlock()
	repository, rest, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/v2/"), "/blobs/uploads/")
	body, _ := io.ReadAll(r.Body)
	switch {
	case r.Method == http.MethodPost:
		p.uploads++
		w.Header().Set("Location", fmt.Sprintf("/v2/%s/blobs/uploads/%d", repository, p.uploads))
		w.WriteHeader(http.StatusAccepted)
	case r.Method == http.MethodPut && rest != "":
		p.at["/v2/"+repository+"/blobs/"+r.URL.Query().Get("digest")] = body
		w.WriteHeader(http.StatusCreated)
	case r.Method == http.MethodPut:
		dir, tag, _ := strings.Cut(r.URL.Path, "/manifests/")
		p.at[r.URL.Path], p.at[dir+"/manifests/"+digest.FromBytes(body).String()] = body, body
		p.tags[dir] = append(p.tags[dir], `"`+tag+`"`)
		w.Header().Set("Docker-Content-Digest", digest.FromBytes(body).String())
		w.WriteHeader(http.StatusCreated)
	case strings.HasSuffix(r.URL.Path, "/tags/list"):
		dir := strings.TrimSuffix(r.URL.Path, "/tags/list")
		_, _ = fmt.Fprintf(w, `{"name": %q, "tags": [%s]}`, strings.TrimPrefix(dir, "/v2/"),
			strings.Join(p.tags[dir], ","))
	case r.URL.Path != "/v2/" && p.at[r.URL.Path] == nil:
		w.WriteHeader(http.StatusNotFound)
	default:
		p.content(w, r)
	}
}

// content answers with a blob or a manifest.
func (p *pushed) content(w http.ResponseWriter, r *http.Request) {
	found := p.at[r.URL.Path]
	if strings.Contains(r.URL.Path, "/manifests/") {
		w.Header().Set("Content-Type", ocispec.MediaTypeImageManifest)
		w.Header().Set("Docker-Content-Digest", digest.FromBytes(found).String())
	}
	w.Header().Set("Content-Length", strconv.Itoa(len(found)))
	_, _ = w.Write(found)
}
