package kubetest

import (
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
)

// Faults puts itself in front of a server and breaks a part of the answers: a 500 or
// a reset, half of them before the request is carried out and half after that. The
// same seed breaks the same ones, as far as they come in the same order.
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
