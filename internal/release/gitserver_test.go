package release

import (
	"net/http"
	"net/http/cgi"
	"net/http/httptest"
	"path/filepath"
	"testing"
)

// serveGit serves the repositories of a directory over HTTP to who knows the
// password.
func serveGit(t *testing.T, execPath, dir, username, password string) (url string) {
	t.Helper()
	backend := &cgi.Handler{
		Path: filepath.Join(execPath, "git-http-backend"),
		Env:  []string{"GIT_PROJECT_ROOT=" + dir, "GIT_HTTP_EXPORT_ALL=1"},
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if u, p, _ := r.BasicAuth(); u != username || p != password {
			w.Header().Set("WWW-Authenticate", `Basic realm="git"`)
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		backend.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	return server.URL
}
