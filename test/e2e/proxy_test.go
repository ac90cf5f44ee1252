//go:build e2e

package e2e

import (
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"k8s.io/client-go/rest"
)

// proxy runs between berth and the API server and does something to berth
// when a certain request comes.
type proxy struct {
	kubeconfig string
	kill       chan *os.Process // gets the process to be killed
}

// killBefore picks the request before which berth is killed.
func killBefore(verb, resource string) func(*http.Request) bool {
	return func(r *http.Request) bool {
		parts := strings.Split(strings.Trim(r.URL.Path, "/"), "/")
		if verb == http.MethodPost {
			return r.Method == verb && parts[len(parts)-1] == resource
		}
		return r.Method == verb && len(parts) > 1 && parts[len(parts)-2] == resource
	}
}

func (w *world) proxy(when func(*http.Request) bool) *proxy {
	w.Helper()
	p := &proxy{kill: make(chan *os.Process, 1)}
	var once sync.Once
	p.kubeconfig = w.between(func(out http.ResponseWriter, r *http.Request, next http.Handler) {
		if when(r) {
			once.Do(func() { _ = (<-p.kill).Kill() })
			panic(http.ErrAbortHandler) // the request never arrives
		}
		next.ServeHTTP(out, r)
	})
	return p
}

// between puts something between berth and the API server, and gives the
// kubeconfig that leads there.
func (w *world) between(meddle func(out http.ResponseWriter, r *http.Request, next http.Handler)) (kubeconfig string) {
	w.Helper()
	target, err := url.Parse(w.limited.Host)
	if err != nil {
		w.Fatal(err)
	}
	transport, err := rest.TransportFor(w.limited)
	if err != nil {
		w.Fatal(err)
	}
	forward := httputil.NewSingleHostReverseProxy(target)
	forward.Transport, forward.FlushInterval = transport, -1
	// What a test breaks is broken on purpose: for the client too, and without a word.
	forward.ErrorHandler = func(http.ResponseWriter, *http.Request, error) { panic(http.ErrAbortHandler) }
	forward.ErrorLog = log.New(io.Discard, "", 0)
	server := httptest.NewServer(http.HandlerFunc(func(out http.ResponseWriter,
		r *http.Request,
	) {
		meddle(out, r, forward)
	}))
	w.Cleanup(func() {
		server.CloseClientConnections()
		server.Close()
	})
	kubeconfig = filepath.Join(w.TempDir(), "kubeconfig")
	text := fmt.Sprintf(`apiVersion: v1
kind: Config
current-context: proxy
clusters: [{name: proxy, cluster: {server: %q}}]
contexts: [{name: proxy, context: {cluster: proxy}}]
`, server.URL)
	if err := os.WriteFile(kubeconfig, []byte(text), 0o600); err != nil {
		w.Fatal(err)
	}
	return kubeconfig
}
