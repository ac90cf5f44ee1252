package identity

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
)

// origin is the one place that a token is for.
type origin struct{ scheme, host string }

func originOf(u *url.URL) origin { return origin{u.Scheme, u.Host} }

// authorized adds the credential to what goes to its origin, and to nothing
// else: a redirect to another host goes there without.
type authorized struct {
	base       http.RoundTripper
	origin     origin
	credential func(r *http.Request) (credential, error)
	basic      bool
	limit      int64 // bytes of an answer
}

// errTooLarge is an answer that nobody waits for the end of.
var errTooLarge = errors.New("the answer is too large")

// RoundTrip makes it an http.RoundTripper.
func (a authorized) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Del("Authorization")
	if originOf(r.URL) == a.origin {
		c, err := a.credential(r)
		if err != nil {
			return nil, err
		}
		switch {
		case c.anonymous():
		case a.basic:
			name := c.Username
			if name == "" {
				name = "x-access-token"
			}
			r.SetBasicAuth(name, string(c.Token))
		default:
			r.Header.Set("Authorization", "Bearer "+string(c.Token))
		}
	}
	response, err := a.base.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	response.Body = &bounded{ReadCloser: response.Body, left: a.limit}
	return response, nil
}

// bounded is a body that ends with an error where it becomes too large.
type bounded struct {
	io.ReadCloser
	left int64
}

func (b *bounded) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if b.left -= int64(n); b.left < 0 {
		return 0, errTooLarge
	}
	return n, err
}

// client follows few redirects, and none from TLS to plain text.
func (a authorized) client() *http.Client {
	return &http.Client{Transport: a, CheckRedirect: func(r *http.Request, via []*http.Request) error {
		if len(via) >= 5 {
			return errors.New("more than 5 redirects")
		}
		if last := via[len(via)-1].URL; last.Scheme == "https" && r.URL.Scheme != "https" {
			return fmt.Errorf("a redirect from https to %s://%s is not followed", r.URL.Scheme, r.URL.Host)
		}
		return nil
	}}
}
