package kubetest

import (
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes" //nolint:depguard // no program has it from here
	"k8s.io/client-go/rest"
)

// Faults puts itself in front of a server and breaks a part of the answers: a 500 or a reset, half of them before the
// request is carried out and half after that. The same seed breaks the same ones, as far as they come in the same
// order.
type Faults struct {
	Share  float64 // of the answers
	Broken atomic.Int64

	mu     sync.Mutex
	random *rand.Rand
}

// NewFaults breaks this share of the answers.
func NewFaults(share float64, seed uint64) *Faults {
	return &Faults{Share: share, random: rand.New(rand.NewPCG(seed, seed))}
}

// Set changes the share.
func (f *Faults) Set(share float64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.Share = share
}

// Wrap is for Start.
func (f *Faults) Wrap(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		f.mu.Lock()
		breaks, after, resets := f.random.Float64() < f.Share, f.random.IntN(2) == 0, f.random.IntN(2) == 0
		f.mu.Unlock()
		if !breaks || r.Header.Get("Upgrade") != "" {
			next.ServeHTTP(w, r)
			return
		}
		f.Broken.Add(1)
		if query := r.URL.RawQuery; after && !strings.Contains(query, "watch=") && !strings.Contains(query, "follow=") {
			next.ServeHTTP(httptest.NewRecorder(), r)
		}
		if resets {
			panic(http.ErrAbortHandler)
		}
		failure(w, http.StatusInternalServerError, "InternalError", "Internal error occurred: broken by a test")
	})
}

// Refusal is the text of each answer of Refusals.
const Refusal = "refused by a test"

// Refusals puts itself in front of a server and refuses what a test wants it to refuse.
type Refusals struct {
	mu   sync.Mutex
	n    int
	code int
	when func(n int, request string) bool
}

// Set refuses, from now on, the requests that a function is true of, with a status. It is told how many there were
// before, and what is requested: "list pods", "patch leases". It may be nil.
func (f *Refusals) Set(code int, when func(n int, request string) bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.n, f.code, f.when = 0, code, when
}

// Wrap is for Start.
func (f *Refusals) Wrap(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		f.mu.Lock()
		code, refuse := f.code, f.when != nil && f.when(f.n, requested(r))
		f.n++
		f.mu.Unlock()
		if refuse {
			http.Error(w, Refusal, code)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// requested is what a request is about.
func requested(r *http.Request) string {
	parts := strings.Split(strings.Trim(r.URL.Path, "/"), "/")
	verb, resource := strings.ToLower(r.Method), parts[len(parts)-1]
	switch {
	case !isCollection(r.URL.Path) && verb != "post":
		if n := len(parts); n > 1 {
			resource = parts[n-2]
		}
	case r.URL.Query().Get("watch") != "":
		verb = "watch"
	case verb == "get":
		verb = "list"
	}
	return verb + " " + resource
}

// Clients are clients of a server.
func Clients(t testing.TB, url string) (kubernetes.Interface, dynamic.Interface, *rest.Config) {
	t.Helper()
	config := &rest.Config{Host: url, QPS: -1, ContentConfig: rest.ContentConfig{ContentType: "application/json"}}
	typed, err := kubernetes.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	untyped, err := dynamic.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	return typed, untyped, config
}
