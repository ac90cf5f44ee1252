package kube

import (
	"net/http"
	"net/url"
	"sync/atomic"

	"k8s.io/client-go/rest"

	"github.com/berthdev/berth/internal/fault"
)

// At is a configuration whose requests go to one URL and nowhere else. client-go follows
// redirects when it connects streams over SPDY, and adds the credentials of the
// configuration to each request, wherever it goes. What client-go makes of the refusal is
// only a text: redirected is the error itself, or nil.
func At(config *rest.Config, target *url.URL) (at *rest.Config, redirected func() error) {
	var refused atomic.Pointer[fault.Error]
	at = rest.CopyConfig(config)
	at.Wrap(func(next http.RoundTripper) http.RoundTripper { return pinned{next, target, &refused} })
	return at, func() error {
		if err := refused.Load(); err != nil {
			return err
		}
		return nil
	}
}

type pinned struct {
	next    http.RoundTripper
	at      *url.URL
	refused *atomic.Pointer[fault.Error]
}

// RoundTrip implements http.RoundTripper.
func (p pinned) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.URL.Scheme == p.at.Scheme && r.URL.Host == p.at.Host && r.URL.Path == p.at.Path {
		return p.next.RoundTrip(r)
	}
	err := fault.New(fault.Unavailable, "%s redirects to %s://%s, which is not sent any credentials", p.at.Host,
		r.URL.Scheme, r.URL.Host).
		WithHint("ask who runs %s", p.at.Host)
	p.refused.Store(err)
	return nil, err
}
