package exec

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"k8s.io/client-go/rest"

	"github.com/berthdev/berth/internal/fault"
)

// Credentials stay with the server that they are for, whatever it answers, over WebSockets and
// over SPDY.
func TestRedirects(t *testing.T) {
	other := httptest.NewTLSServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		t.Errorf("%s %s is sent elsewhere, with %v", r.Method, r.URL, r.Header)
	}))
	t.Cleanup(other.Close)
	for _, status := range []int{
		http.StatusMovedPermanently, http.StatusFound, http.StatusSeeOther,
		http.StatusTemporaryRedirect, http.StatusPermanentRedirect,
	} {
		for name, to := range map[string]string{
			"another server": other.URL + "/exec", "another path": "/elsewhere",
			"no TLS": "plain",
		} {
			t.Run(http.StatusText(status)+" to "+name, func(t *testing.T) {
				asked := map[string]bool{}
				server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					if asked[r.Method] = true; r.URL.Path != "/exec" ||
						r.Header.Get("Authorization") != "Bearer secret" {
						t.Errorf("asked for %s with %v", r.URL, r.Header)
					}
					at := to
					if to == "plain" {
						at = "http://" + r.Host + "/exec"
					}
					http.Redirect(w, r, at, status)
				}))
				defer server.Close()
				at, _ := url.Parse(server.URL + "/exec")
				config := &rest.Config{BearerToken: "secret", TLSClientConfig: rest.TLSClientConfig{Insecure: true}}
				_, err := Stream(t.Context(), Server{Config: config}, at, Session{Stdout: io.Discard})
				if fault.CodeOf(err) != fault.Unavailable || !strings.HasPrefix(err.Error(), at.Host+" redirects to ") {
					t.Errorf("%s: %v", fault.CodeOf(err), err)
				}
				if !asked[http.MethodGet] || !asked[http.MethodPost] {
					t.Errorf("not asked over both protocols: %v", asked)
				}
			})
		}
	}
}

// A command ends with the context, whatever hangs.
func TestStreamEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	if err := untilEnd(ctx, func() error { select {} }); !errors.Is(err, context.DeadlineExceeded) {
		t.Error(err)
	}
}

// client-go copies with io.Copy, which asks a buffer to read by itself if it can.
func TestBeginning(t *testing.T) {
	b := Beginning{Max: 10}
	type only struct{ io.Reader } // it cannot write by itself
	n, err := io.Copy(&b, only{strings.NewReader(strings.Repeat("x", 30))})
	if n != 30 || err != nil {
		t.Fatalf("%d, %v", n, err)
	}
	if len(b.String()) != 10 {
		t.Errorf("%d bytes are kept", len(b.String()))
	}
}
