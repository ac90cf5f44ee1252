package commands_test

import (
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/berthdev/berth/internal/commands/cmdtest"
	"github.com/berthdev/berth/internal/kubetest"
)

// broken are ways in which an API server, or what is before it, can answer wrongly.
var broken = map[string]http.HandlerFunc{
	"reset":          func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) },
	"500 of a proxy": page(http.StatusInternalServerError),
	"401 of a proxy": page(http.StatusUnauthorized),
	"403 of a proxy": page(http.StatusForbidden),
	"404 of a proxy": page(http.StatusNotFound),
	"a login page":   page(http.StatusOK),
	"401": func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusUnauthorized)
		_, _ = io.WriteString(w,
			`{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Unauthorized","code":401,`+
				`"message":"Unauthorized"}`)
	},
	"403": func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusForbidden)
		_, _ = io.WriteString(w,
			`{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Forbidden","code":403,`+
				`"message":"not for you"}`)
	},
	"an answer that ends in the middle": func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Content-Length", "1000")
		_, _ = io.WriteString(w, `{"kind":"PodList","apiVersion":"v1","items":[{"metadata":{`)
	},
	"half a document": func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"kind":"PodList","apiVersion":"v1","items":[{"metadata":{`)
	},
	"a redirect": func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "http://"+r.Host+"/login"+r.URL.Path, http.StatusFound)
	},
}

func page(status int) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		w.WriteHeader(status)
		_, _ = io.WriteString(w, "<html><body><h1>Oops</h1></body></html>")
	}
}

// triedWithout are commands, and what of an API server each of them is tried without: all of it, and
// what it comes to later.
var triedWithout = map[string][]string{
	"/": {
		"status", "status alice", "jobs", "provision bob --timeout 3s", "delete alice --timeout 3s",
		"exec alice --no-wait -- true",
		"logs alice", "diagnose alice", "diagnose deployment/web", "doctor",
	},
	"/pods":       {"status alice", "provision bob --timeout 3s", "delete alice --timeout 3s", "doctor"},
	"/secrets":    {"status alice", "provision bob --timeout 3s", "delete alice --timeout 3s"},
	"/configmaps": {"status", "jobs", "provision bob --timeout 3s"},
	"/leases":     {"provision bob --timeout 3s", "delete alice --timeout 3s"},
	"/events":     {"diagnose alice"},
	"reviews":     {"provision bob --timeout 3s", "doctor"},
	"/log":        {"logs alice", "logs alice --all-containers"},
	"/exec":       {"exec alice --no-wait -- true", "cp alice:x /nonexistent/y"},
}

// The address of a request is of no use to anyone who reads an error: whatever the API server
// does, errors do not show it. Only the address of the server may be shown.
func TestNoAddresses(t *testing.T) {
	cmdtest.Offline(t)
	var all sync.WaitGroup
	defer all.Wait()
	try := func(address, part, how string) {
		_, host, _ := strings.Cut(address, "://")
		for _, line := range triedWithout[part] {
			all.Go(func() {
				words, command, _ := strings.Cut(line, " -- ")
				args := append(strings.Fields(words), "--server", address, "--namespace", "team")
				if command != "" {
					args = append(args, "--", command)
				}
				if status, stdout, stderr := cmdtest.Run(t, "", args...); strings.Contains(stdout+stderr, host+"/") {
					t.Errorf("berth %s, status %d, %s: %s\n%s\n%s", line, status, part, how, stdout, stderr)
				}
			})
		}
	}
	for how, breaks := range broken {
		for part := range triedWithout {
			var isBroken atomic.Bool
			server := kubetest.Start(t, func(next http.Handler) http.Handler {
				return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					if isBroken.Load() && strings.Contains(r.URL.Path, part) {
						breaks(w, r)
						return
					}
					next.ServeHTTP(w, r)
				})
			})
			cmdtest.Must(t, 0, "provision", "alice", "--server", server.URL, "--namespace", "team")
			isBroken.Store(true)
			try(server.URL, part, how)
		}
	}
	try("http://127.0.0.1:1", "/", "refused")
	try(strings.Replace(kubetest.Start(t, nil).URL, "http:", "https:", 1), "/", "no TLS")
}
