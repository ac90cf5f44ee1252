// Package server serves the content of bundles to those who may read it, and fetches
// it from such a server.
package server

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"log/slog"
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/pace"
	"github.com/berthdev/berth/internal/serve"
)

// Store has the content of bundles.
type Store interface {
	// Open opens the archive of a bundle that is unpacked: a tar file compressed with
	// gzip. The digest is that of the content, sha256:HEX. For a bundle that does not
	// exist or is not unpacked the error is an fs.ErrNotExist. The archive is nil if the
	// digest is the one that is known already.
	Open(ctx context.Context, bundle, known string) (archive io.ReadSeekCloser, digest string, modified time.Time,
		err error)
}

// ReaderRole is the ClusterRole of those who may read the content of bundles, and
// Paths is what it lets them get.
const (
	ReaderRole = "bundle-reader"
	Paths      = "/bundles/*"
)

// Role is the role of `berth serve` that serves content.
const Role = "bundles"

const (
	prefix    = "/bundles/"
	extension = ".tgz"
)

// URL is where the content of a bundle is, below the address of a server.
func URL(base, bundle string) string {
	return strings.TrimRight(base, "/") + prefix + bundle + extension
}

// Handler answers requests for the content of bundles. The guard asks for get on the
// path, whatever the method: a caller who may not is told so before it is known whether there
// is anything.
func Handler(store Store, guard *serve.Guard) http.Handler {
	takes := func(r *http.Request) serve.Access { return serve.Get(r.URL.Path) }
	return guard.Protect(takes, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet && r.Method != http.MethodHead {
			w.Header().Set("Allow", "GET, HEAD")
			http.Error(w, "only GET and HEAD", http.StatusMethodNotAllowed)
			return
		}
		bundle, ok := bundleOf(r.URL.Path)
		if !ok {
			notFound(w)
			return
		}
		send(w, r, store, bundle, guard.Log)
	}))
}

// bundleOf is the bundle whose content a path is.
func bundleOf(path string) (bundle string, ok bool) {
	name, below := strings.CutPrefix(path, prefix)
	name, file := strings.CutSuffix(name, extension)
	return name, below && file && len(validation.IsDNS1123Subdomain(name)) == 0
}

// send sends the content of a bundle, or the part of it that is asked for.
func send(w http.ResponseWriter, r *http.Request, store Store, bundle string, log *slog.Logger) {
	archive, digest, modified, err := store.Open(r.Context(), bundle, known(r))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		notFound(w)
		return
	case err != nil:
		log.ErrorContext(r.Context(), "the content cannot be read", slog.String("bundle", bundle),
			slog.String("error", fault.Line(err.Error())))
		status := http.StatusInternalServerError
		if fault.CodeOf(err) == fault.Unavailable {
			status = http.StatusServiceUnavailable
			w.Header().Set("Retry-After", "5")
		}
		http.Error(w, "the content cannot be read", status)
		return
	}
	header := w.Header()
	header.Set("ETag", `"`+digest+`"`)
	header.Set("Cache-Control", "private, no-cache") // to be asked for each time: permissions change
	if archive == nil {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	defer archive.Close()
	header.Set("Content-Type", "application/gzip")
	header.Set("X-Content-Type-Options", "nosniff")
	http.ServeContent(w, r, "", modified, archive)
}

// known is the digest of what the caller has, if it says no more than that: for it the
// content need not be there.
func known(r *http.Request) string {
	if r.Header.Get("If-Match") != "" || r.Header.Get("If-Unmodified-Since") != "" ||
		len(r.Header.Values("If-None-Match")) != 1 {
		return ""
	}
	tag, opens := strings.CutPrefix(r.Header.Get("If-None-Match"), `"`)
	digest, closes := strings.CutSuffix(tag, `"`)
	if !opens || !closes {
		return ""
	}
	return digest
}

func notFound(w http.ResponseWriter) { http.Error(w, "not found", http.StatusNotFound) }

// body is content that is being fetched. A server that sends too little for a while
// ends it with an error.
type body struct {
	io.ReadCloser
	cancel  context.CancelCauseFunc
	watch   *pace.Watch
	stalled atomic.Bool
	host    string
}

func newBody(content io.ReadCloser, host string, cancel context.CancelCauseFunc) *body {
	b := &body{ReadCloser: content, cancel: cancel, host: host}
	b.watch = pace.New(stallTimeout, func() {
		b.stalled.Store(true)
		cancel(nil)
	})
	return b
}

// Read reads a piece.
func (b *body) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if b.stalled.Load() {
		return n, fault.New(fault.Unavailable, "the content server %s %s", b.host, pace.TooLittle(stallTimeout)).
			WithHint("try again in a while")
	}
	b.watch.Heard(n)
	return n, err
}

// Close ends the request.
func (b *body) Close() error {
	b.watch.Disarm()
	b.cancel(nil)
	return b.ReadCloser.Close()
}
