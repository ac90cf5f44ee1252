//go:build e2e

package e2e

import (
	"fmt"
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

// proxy stands between berth and the API server and does something to berth
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
	target, err := url.Parse(w.config.Host)
	if err != nil {
		w.Fatal(err)
	}
	transport, err := rest.TransportFor(w.config)
	if err != nil {
		w.Fatal(err)
	}
	forward := httputil.NewSingleHostReverseProxy(target)
	forward.Transport, forward.FlushInterval = transport, -1
	forward.ErrorHandler = func(http.ResponseWriter, *http.Request, error) {}
	var once sync.Once
	server := httptest.NewServer(http.HandlerFunc(func(out http.ResponseWriter, r *http.Request) {
		if when(r) {
			once.Do(func() { _ = (<-p.kill).Kill() })
			panic(http.ErrAbortHandler) // the request never arrives
		}
		forward.ServeHTTP(out, r)
	}))
	w.Cleanup(func() {
		server.CloseClientConnections()
		server.Close()
	})
	p.kubeconfig = filepath.Join(w.TempDir(), "kubeconfig")
	text := fmt.Sprintf(`apiVersion: v1
kind: Config
current-context: proxy
clusters: [{name: proxy, cluster: {server: %q}}]
contexts: [{name: proxy, context: {cluster: proxy}}]
`, server.URL)
	if err := os.WriteFile(p.kubeconfig, []byte(text), 0o600); err != nil {
		w.Fatal(err)
	}
	return p
}
