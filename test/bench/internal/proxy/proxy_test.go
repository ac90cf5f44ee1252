package proxy

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"k8s.io/client-go/rest"
)

// upstream answers an ordinary request at once and a watch one line at a time.
func upstream(t *testing.T) *httptest.Server {
	t.Helper()
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "" {
			http.Error(w, "the token got through", http.StatusUnauthorized)
			return
		}
		fmt.Fprintln(w, r.Proto)
		if r.URL.Query().Get("watch") != "" {
			w.(http.Flusher).Flush()
			<-r.Context().Done()
		}
	}))
	server.EnableHTTP2 = true
	server.StartTLS()
	t.Cleanup(server.Close)
	return server
}

func start(t *testing.T) (*Proxy, *http.Client) {
	t.Helper()
	p, err := Start(&rest.Config{Host: upstream(t).URL, TLSClientConfig: rest.TLSClientConfig{Insecure: true}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.Close() })
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(p.CA)
	transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool}, ForceAttemptHTTP2: true}
	t.Cleanup(transport.CloseIdleConnections)
	return p, &http.Client{Transport: transport}
}

func get(t *testing.T, client *http.Client, url string) *http.Response {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer bench")
	response, err := client.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	return response
}

func TestRequestsAreHeldBackAndWrittenDown(t *testing.T) {
	p, client := start(t)
	const delay = 50 * time.Millisecond
	p.SetDelay(delay)
	response := get(t, client, p.URL+"/api/v1/namespaces/ns/pods?limit=1")
	body, _ := io.ReadAll(response.Body)
	response.Body.Close()
	if string(body) != "HTTP/2.0\n" || response.Proto != "HTTP/2.0" {
		t.Errorf("the API server is spoken to in %q, the client in %s", body, response.Proto)
	}
	entries := p.Take()
	if len(entries) != 1 || entries[0].Status != 200 || entries[0].Path != "/api/v1/namespaces/ns/pods" ||
		entries[0].Query != "limit=1" {
		t.Fatalf("written down is %+v", entries)
	}
	if took := entries[0].Answered.Sub(entries[0].Arrived); took < delay {
		t.Errorf("answered after %s, before the delay", took)
	}
	if len(p.Take()) != 0 {
		t.Error("what was taken is still there")
	}
}

func TestWatchPassesAtOnce(t *testing.T) {
	p, client := start(t)
	response := get(t, client, p.URL+"/api/v1/pods?watch=true")
	line := make([]byte, len("HTTP/2.0\n"))
	if _, err := io.ReadFull(response.Body, line); err != nil {
		t.Fatal("nothing of an open watch arrives:", err)
	}
	entries := p.Take()
	if len(entries) != 1 || entries[0].Answered.IsZero() || !entries[0].Ended.IsZero() || !entries[0].IsWatch() {
		t.Errorf("an open watch is written down as %+v", entries)
	}
	response.Body.Close()
}
