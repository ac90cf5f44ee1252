package gateway

import (
	"net/http"
	"net/url"
	"sync/atomic"

	"github.com/berthdev/berth/internal/fault"
)

// at keeps requests, and with them the credential, at one URL: client-go's SPDY follows
// redirects with what it sends everywhere.
type at struct {
	name    string // of the gateway
	url     *url.URL
	refused atomic.Pointer[fault.Error] // client-go keeps only the words of errors
}

// only sends nothing but requests for the URL.
func (a *at) only(next http.RoundTripper) http.RoundTripper { return keeper{a, next} }

type keeper struct {
	*at
	next http.RoundTripper
}

// RoundTrip implements http.RoundTripper.
func (k keeper) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.URL.Scheme != k.url.Scheme || r.URL.Host != k.url.Host || r.URL.Path != k.url.Path {
		err := fault.New(fault.Unavailable, "gateway %s redirects to %s, which gets no credential of yours", k.name, r.URL.Host).
			WithHint("ask who runs it, and correct its URL in the configuration")
		k.refused.Store(err)
		return nil, err
	}
	return k.next.RoundTrip(r)
}
