//go:build unix

package release

import (
	"net/http"
	"net/http/cgi"
	"net/http/httptest"
	"os/exec"
	"path/filepath"
	"strings"
)

// serve serves the repository over HTTP to those who know the password, if there is one.
func (w workspace) serve(username, password string) (url string) {
	w.Helper()
	programs, err := exec.CommandContext(w.Context(), "git", "--exec-path").Output()
	if err != nil {
		w.Fatal(err)
	}
	backend := &cgi.Handler{
		Path: filepath.Join(strings.TrimSpace(string(programs)), "git-http-backend"),
		Env:  []string{"GIT_PROJECT_ROOT=" + filepath.Dir(w.origin), "GIT_HTTP_EXPORT_ALL=1"},
	}
	server := httptest.NewServer(http.HandlerFunc(func(out http.ResponseWriter, r *http.Request) {
		if u, p, _ := r.BasicAuth(); u != username || p != password {
			out.Header().Set("WWW-Authenticate", `Basic realm="git"`)
			out.WriteHeader(http.StatusUnauthorized)
			return
		}
		backend.ServeHTTP(out, r)
	}))
	w.Cleanup(server.Close)
	return server.URL
}
