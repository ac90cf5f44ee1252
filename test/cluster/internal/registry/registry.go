// Package registry serves the test cluster's images: some slowly, some for a
// password only.
package registry

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"

	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/registry"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/remote"

	"github.com/berthdev/berth/test/cluster/internal/images"
)

// User and Password open the repositories below private/.
const (
	User     = "berth"
	Password = "berth-test"
)

// rate makes a slow image take about 12 seconds, in bytes per second.
const rate = images.PaddingSize / 12

// Registry is an OCI registry in memory.
type Registry struct {
	store   http.Handler
	catalog *images.Catalog
	dir     string // of the programs that tests make images of
	lock    sync.Mutex
	made    map[string]bool // what was not there from the beginning, by name
	slow    sync.Map        // digests of the layers to serve slowly
}

// New makes a registry that holds the catalog. The programs in dir are images, too,
// from the moment that they are there.
func New(catalog *images.Catalog, dir string) (*Registry, error) {
	store := registry.New(registry.Logger(log.New(io.Discard, "", 0)))
	r := &Registry{store: store, catalog: catalog, dir: dir, made: map[string]bool{}}
	fixed, err := catalog.Fixed()
	if err != nil {
		return nil, err
	}
	for name, image := range fixed {
		if err := r.push(name, image); err != nil {
			return nil, fmt.Errorf("push %s: %w", name, err)
		}
	}
	return r, nil
}

// ServeHTTP implements [http.Handler].
func (r *Registry) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	repository, kind, reference := parse(req.URL.Path)
	switch {
	case strings.HasPrefix(repository, "private/") && !authorized(req):
		refuse(w)
		return
	case kind == "manifests":
		if err := r.provide(repository, reference); err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
	case kind == "blobs" && req.Method == http.MethodGet:
		if _, slow := r.slow.Load(reference); slow {
			w = &throttled{ResponseWriter: w, rate: rate, done: req.Context().Done()}
		}
	}
	r.store.ServeHTTP(w, req)
}

// provide builds an image that is made when it is first asked for.
func (r *Registry) provide(repository, reference string) error {
	var build func(name string) (v1.Image, error)
	name := repository + ":" + reference
	switch {
	case images.IsSlow(repository, reference):
		build = r.slowImage
	case name == images.Git:
		build = func(string) (v1.Image, error) { return r.catalog.Git() }
	case repository == images.Berth && isTag(reference):
		build = func(name string) (v1.Image, error) { return images.Program(name, filepath.Join(r.dir, reference)) }
	default:
		return nil
	}
	r.lock.Lock()
	defer r.lock.Unlock()
	if r.made[name] {
		return nil
	}
	image, err := build(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil // no image of that name, yet
	}
	if err != nil {
		return err
	}
	r.made[name] = true
	return r.push(name, image)
}

// isTag tells a tag from a digest, and from what leads out of a directory.
func isTag(reference string) bool {
	return filepath.IsLocal(reference) && !strings.ContainsAny(reference, ":/")
}

// slowImage remembers which layer is to be served slowly.
func (r *Registry) slowImage(name string) (v1.Image, error) {
	image, pad, err := r.catalog.Slow(name)
	if err != nil {
		return nil, err
	}
	digest, err := pad.Digest()
	if err != nil {
		return nil, err
	}
	r.slow.Store(digest.String(), true)
	return image, nil
}

// push goes to the store behind the rules of this registry, without a network
// in between.
func (r *Registry) push(image string, content v1.Image) error {
	ref, err := name.NewTag("registry.invalid/"+image, name.Insecure)
	if err != nil {
		return err
	}
	return remote.Write(ref, content, remote.WithTransport(inProcess{r.store}))
}

type inProcess struct{ handler http.Handler }

func (t inProcess) RoundTrip(req *http.Request) (*http.Response, error) {
	w := httptest.NewRecorder()
	inner := req.Clone(req.Context())
	if inner.Body == nil {
		inner.Body = http.NoBody
	}
	t.handler.ServeHTTP(w, inner)
	resp := w.Result()
	resp.Request = req
	return resp, nil
}

// parse splits /v2/<repository>/<kind>/<reference>.
func parse(path string) (repository, kind, reference string) {
	parts := strings.Split(strings.TrimPrefix(path, "/v2/"), "/")
	if len(parts) < 3 {
		return "", "", ""
	}
	n := len(parts)
	return strings.Join(parts[:n-2], "/"), parts[n-2], parts[n-1]
}

func authorized(req *http.Request) bool {
	user, password, ok := req.BasicAuth()
	return ok && user == User && password == Password
}

func refuse(w http.ResponseWriter) {
	w.Header().Set("Docker-Distribution-Api-Version", "registry/2.0")
	w.Header().Set("WWW-Authenticate", `Basic realm="registry"`)
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(http.StatusUnauthorized)
	_, _ = io.WriteString(w, `{"errors":[{"code":"UNAUTHORIZED","message":"authentication required"}]}`)
}
