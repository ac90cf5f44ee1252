package kube

import (
	"net/http"
	"sync/atomic"
)

// Counter counts the requests that a client sends, watches included.
type Counter struct{ n atomic.Int64 }

// Count is the number so far.
func (c *Counter) Count() int {
	if c == nil {
		return 0
	}
	return int(c.n.Load())
}

func (c *Counter) wrap(next http.RoundTripper) http.RoundTripper {
	return roundTripper(func(r *http.Request) (*http.Response, error) {
		c.n.Add(1)
		return next.RoundTrip(r)
	})
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }
