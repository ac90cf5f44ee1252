package kube

import (
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"

	"k8s.io/client-go/rest"

	"github.com/berthdev/berth/internal/fault"
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

// errPage is the error of a page in HTML in place of what was asked for.
var errPage = errors.New("a proxy answered with a page in HTML, such as one to log in, not the API server")

// withoutPages keeps the pages of a proxy before the API server from being taken for its answers, and from being told
// as errors. The API server answers nothing with HTML but what it passes on itself.
func withoutPages(next http.RoundTripper) http.RoundTripper {
	return roundTripper(func(r *http.Request) (*http.Response, error) {
		response, err := next.RoundTrip(r)
		if err != nil || !isPage(response) || strings.Contains(r.URL.Path, "/proxy") {
			return response, err
		}
		code := response.StatusCode
		switch {
		case code >= http.StatusBadRequest:
			text := fmt.Sprintf("HTTP %d from a proxy", code)
			_ = response.Body.Close()
			response.Body, response.ContentLength = io.NopCloser(strings.NewReader(text)), int64(len(text))
			response.Header = response.Header.Clone()
			response.Header.Set("Content-Type", "text/plain")
			response.Header.Del("Content-Encoding")
		case isStream(r): // an error of the transport would be told with its address
			_ = response.Body.Close()
			response.Body = io.NopCloser(strings.NewReader(errPage.Error()))
		case code >= http.StatusOK && code < http.StatusMultipleChoices:
			_ = response.Body.Close()
			return nil, errPage
		}
		return response, nil
	})
}

func isStream(r *http.Request) bool {
	return strings.HasSuffix(r.URL.Path, "/exec") || strings.HasSuffix(r.URL.Path, "/portforward")
}

func isPage(response *http.Response) bool {
	kind, _, err := mime.ParseMediaType(response.Header.Get("Content-Type"))
	return err == nil && kind == "text/html"
}

// At is a configuration whose requests go to one URL and nowhere else. client-go follows redirects when it connects
// streams over SPDY, and adds the credentials of the configuration to each request, wherever it goes. What client-go
// makes of the refusal is only a text: redirected is the error itself, or nil.
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
