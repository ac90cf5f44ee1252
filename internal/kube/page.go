package kube

import (
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"strings"
)

// errPage is the error of a page in HTML in place of what was asked for.
var errPage = errors.New("a proxy answered with a page in HTML, such as one to log in, not the API server")

// withoutPages keeps the pages of a proxy before the API server from being taken for its
// answers, and from being told as errors. The API server answers nothing with HTML but
// what it passes on itself.
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
