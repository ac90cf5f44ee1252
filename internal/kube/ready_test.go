package kube

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/client-go/rest"
)

// counted is a server with TLS that counts its connections, and its configuration.
func counted(t *testing.T) (config *rest.Config, made *atomic.Int32, server *httptest.Server) {
	t.Helper()
	made = &atomic.Int32{}
	server = httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, "hello")
	}))
	server.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			made.Add(1)
		}
	}
	server.StartTLS()
	t.Cleanup(server.Close)
	return &rest.Config{Host: server.URL, TLSClientConfig: rest.TLSClientConfig{Insecure: true}}, made, server
}

// answers is true for a connection on which the server answers.
func answers(t *testing.T, conn net.Conn) bool {
	t.Helper()
	if conn == nil {
		return false
	}
	defer func() { _ = conn.Close() }()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "https://server/", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	if err := request.Write(conn); err != nil {
		t.Error(err)
	}
	response, err := http.ReadResponse(bufio.NewReader(conn), request)
	if err != nil {
		t.Error(err)
		return false
	}
	_ = response.Body.Close()
	return response.StatusCode == http.StatusOK
}

// One connection is made ahead, and can be used once.
func TestReady(t *testing.T) {
	config, made, _ := counted(t)
	r := newReady(config)
	defer r.Close()
	if r.Take(t.Context()) != nil {
		t.Error("there is one that nobody asked for")
	}
	r.Prepare()
	r.Prepare()
	if !answers(t, r.Take(t.Context())) || r.Take(t.Context()) != nil || made.Load() != 1 {
		t.Errorf("%d connections", made.Load())
	}
	r.Keep()
	for range 2 {
		if !answers(t, r.Take(t.Context())) {
			t.Error("no other one follows the one that is taken")
		}
	}
	r.Close()
	if conn := r.Take(t.Context()); conn != nil {
		t.Error("there is one after the end")
	}
	var none *Ready
	none.Prepare()
	none.Keep()
	none.Close()
	if none.Take(t.Context()) != nil {
		t.Error("none gives one")
	}
}

// One that the server has closed meanwhile is not used.
func TestReadyThatWasClosed(t *testing.T) {
	config, _, server := counted(t)
	r := newReady(config)
	r.Prepare()
	p := r.next
	<-p.done
	if p.conn == nil {
		t.Fatal("no connection")
	}
	server.CloseClientConnections()
	for isOpen(p.conn) { // the end is on its way
		time.Sleep(time.Millisecond)
	}
	if r.Take(t.Context()) != nil {
		t.Error("it is used")
	}
}

// Nothing is made ahead where a proxy leads to the server, nor is there one of a server that cannot be reached, or that
// is not trusted: the stream says so.
func TestReadyWithout(t *testing.T) {
	config, made, _ := counted(t)
	proxied, untrusted, closed := *config, *config, *config
	proxied.Proxy = http.ProxyURL(&url.URL{Scheme: "http", Host: "127.0.0.1:1"})
	untrusted.TLSClientConfig = rest.TLSClientConfig{}
	closed.Host = "https://127.0.0.1:1"
	for name, config := range map[string]*rest.Config{"proxy": &proxied, "untrusted": &untrusted, "closed": &closed} {
		r := newReady(config)
		r.Prepare()
		if r.Take(t.Context()) != nil {
			t.Error(name)
		}
	}
	if made.Load() != 1 { // that of the one that is not trusted
		t.Errorf("%d connections", made.Load())
	}
}

// One that waits for long is dropped, and a caller that gives up does not wait for it.
func TestReadyIsDropped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		near, far := net.Pipe()
		r := &Ready{connect: func() (net.Conn, error) { return near, nil }}
		r.Prepare()
		time.Sleep(freshFor + time.Second)
		synctest.Wait()
		if _, err := far.Read(make([]byte, 1)); !errors.Is(err, io.EOF) {
			t.Error(err)
		}
		if r.Take(t.Context()) != nil {
			t.Error("it is still there")
		}
		hangs := make(chan struct{})
		defer close(hangs)
		slow := &Ready{connect: func() (net.Conn, error) {
			<-hangs
			return nil, io.EOF
		}}
		slow.Prepare()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if slow.Take(ctx) != nil {
			t.Error("there is one")
		}
	})
}
