package credential

import (
	"crypto/tls"
	"errors"
	"fmt"
	"net/http"
	"net/url"
)

// Scheme is how a credential is sent.
type Scheme int

// The schemes.
const (
	Bearer Scheme = iota
	Basic
)

const maxRedirects = 5

// NewClient returns an HTTP client that sends the credential to the scheme and host of base and to no other: a redirect
// elsewhere is followed without it, a redirect from https to http is refused. Reading more than limit bytes of a
// response ends with an http.MaxBytesError.
func NewClient(base *url.URL, source *Source, scheme Scheme, limit int64) *http.Client {
	return &http.Client{
		Transport: transport{base: base, source: source, scheme: scheme, limit: limit},
		CheckRedirect: func(r *http.Request, via []*http.Request) error {
			if len(via) >= maxRedirects {
				return fmt.Errorf("stopped after %d redirects", maxRedirects)
			}
			if via[len(via)-1].URL.Scheme == "https" && r.URL.Scheme != "https" {
				return fmt.Errorf("refused to follow a redirect from https to %s://%s", r.URL.Scheme, r.URL.Host)
			}
			return nil
		},
	}
}

// NewClientWithoutVerification is NewClient for a server whose certificate is not
// verified. Those of other servers, to which it may redirect, are.
func NewClientWithoutVerification(base *url.URL, source *Source, scheme Scheme, limit int64) *http.Client {
	client := NewClient(base, source, scheme, limit)
	unverified := &http.Transport{
		Proxy:           http.ProxyFromEnvironment,
		DialContext:     dial,
		TLSClientConfig: &tls.Config{InsecureSkipVerify: true, MinVersion: tls.VersionTLS12},
		//nolint:gosec // as the user asks
		ForceAttemptHTTP2: true,
		DisableKeepAlives: true, // the client is for a few requests, and nobody closes it
	}
	client.Transport = transport{base: base, source: source, scheme: scheme, limit: limit, own: unverified}
	return client
}

type transport struct {
	base   *url.URL
	source *Source
	scheme Scheme
	limit  int64
	// own is for the server of base; nil is Transport, as for any other.
	own http.RoundTripper
}

func (t transport) RoundTrip(r *http.Request) (*http.Response, error) {
	ctx := r.Context()
	r = r.Clone(ctx)
	r.Header.Del("Authorization")
	next := http.RoundTripper(Transport{})
	if r.URL.Scheme == t.base.Scheme && r.URL.Host == t.base.Host {
		if t.own != nil {
			next = t.own
		}
		c, err := t.source.Get(ctx)
		if err != nil {
			return nil, err
		}
		switch {
		case c.Anonymous():
		case t.scheme == Bearer:
			r.Header.Set("Authorization", "Bearer "+c.Token.Reveal())
		case c.Username == "":
			r.SetBasicAuth("x-access-token", c.Token.Reveal())
		default:
			r.SetBasicAuth(c.Username, c.Token.Reveal())
		}
	}
	response, err := next.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	response.Body = http.MaxBytesReader(nil, response.Body, t.limit)
	return response, nil
}

// WithoutURL strips the URL from an error of net/http, as its query or userinfo may hold a secret.
func WithoutURL(err error) error {
	if urlErr, ok := errors.AsType[*url.Error](err); ok {
		return urlErr.Err
	}
	return err
}
