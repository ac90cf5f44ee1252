package kube

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"net/http"
	"net/url"
	"os"
	"sync"
	"time"

	utilnet "k8s.io/apimachinery/pkg/util/net"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/transport"
)

// Ready has a connection to the API server ready for the next stream: a stream takes one of its own, and making it
// takes two round trips and the processor time of a handshake, which can pass while a workspace is looked up. A nil
// Ready has none.
type Ready struct {
	connect func() (net.Conn, error)

	mu     sync.Mutex
	next   *prepared // nil for none
	keep   bool      // whether one that is taken is followed by another one
	closed bool
}

// prepared is a connection that is being made, or waits.
type prepared struct {
	done chan struct{} // closed once it is made
	conn net.Conn      // nil if it could not be made
	at   time.Time     // when it was made, by the wall clock, which goes on while a laptop sleeps
}

const (
	// freshFor is how long a connection may wait. What is before a server may end one that is idle, and a laptop that
	// slept, or is in another network, has lost it, which nothing says.
	freshFor = 10 * time.Second
	// connectFor is how long making one may take, as in client-go.
	connectFor = 30 * time.Second
)

// newReady is for the API server of a configuration. It keeps no connection where a proxy leads there.
func newReady(config *rest.Config) *Ready {
	return &Ready{connect: func() (net.Conn, error) { // whoever asks for it does not wait for it
		ctx, cancel := context.WithTimeout(context.Background(), connectFor)
		defer cancel()
		return connectTo(ctx, config)
	}}
}

// Prepare makes a connection in the background, if there is none.
func (r *Ready) Prepare() {
	if r == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.prepare()
}

// Keep is Prepare, now and each time that one is taken.
func (r *Ready) Keep() {
	if r == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.keep = true
	r.prepare()
}

func (r *Ready) prepare() {
	if r.closed || r.next != nil {
		return
	}
	p := &prepared{done: make(chan struct{})}
	r.next = p
	go func() {
		defer close(p.done)
		conn, err := r.connect()
		if err != nil {
			return // whatever it is, the stream meets it as well, and says so
		}
		p.conn, p.at = conn, wallClock()
		time.AfterFunc(freshFor, func() { r.drop(p) })
	}()
}

// Take is the connection that was prepared; nil if there is none that can be used.
func (r *Ready) Take(ctx context.Context) net.Conn {
	if r == nil {
		return nil
	}
	r.mu.Lock()
	p := r.next
	r.next = nil
	if r.keep {
		defer r.Prepare()
	}
	r.mu.Unlock()
	if p == nil {
		return nil
	}
	select {
	case <-p.done:
	case <-ctx.Done():
		go p.close()
		return nil
	}
	if p.conn == nil {
		return nil
	}
	if wallClock().Sub(p.at) > freshFor || !isOpen(p.conn) {
		_ = p.conn.Close()
		return nil
	}
	return p.conn
}

// drop closes a connection that nobody has taken.
func (r *Ready) drop(p *prepared) {
	r.mu.Lock()
	unused := r.next == p
	if unused {
		r.next = nil
	}
	r.mu.Unlock()
	if unused {
		p.close()
	}
}

// Close drops the connection, and makes no more.
func (r *Ready) Close() {
	if r == nil {
		return
	}
	r.mu.Lock()
	p := r.next
	r.next, r.closed = nil, true
	r.mu.Unlock()
	if p != nil {
		go p.close()
	}
}

func (p *prepared) close() {
	<-p.done
	if p.conn != nil {
		_ = p.conn.Close()
	}
}

func wallClock() time.Time { return time.Now().Round(0) }

// isOpen is false for a connection that the other end has closed: a server says nothing before it is asked.
func isOpen(conn net.Conn) bool {
	if err := conn.SetReadDeadline(time.Now().Add(time.Millisecond)); err != nil {
		return false
	}
	_, err := conn.Read(make([]byte, 1))
	return errors.Is(err, os.ErrDeadlineExceeded) && conn.SetReadDeadline(time.Time{}) == nil
}

// errByProxy is for a server that a proxy leads to.
var errByProxy = errors.New("a proxy leads there")

// connectTo connects with the server of a configuration, as far as a request can be sent.
func connectTo(ctx context.Context, config *rest.Config) (net.Conn, error) {
	server, _, err := rest.DefaultServerUrlFor(config)
	if err != nil {
		return nil, err
	}
	if by, err := ProxyFor(config)(&http.Request{URL: server}); err != nil || by != nil {
		return nil, errors.Join(errByProxy, err)
	}
	settings, err := config.TransportConfig()
	if err != nil {
		return nil, err
	}
	secured, err := transport.TLSConfigFor(settings)
	if err != nil {
		return nil, err
	}
	dial := config.Dial
	if dial == nil {
		dial = (&net.Dialer{KeepAlive: connectFor}).DialContext
	}
	conn, err := dial(ctx, "tcp", address(server))
	if err != nil || server.Scheme != "https" {
		return conn, err
	}
	if secured = secured.Clone(); secured == nil {
		secured = &tls.Config{MinVersion: tls.VersionTLS12}
	}
	if secured.ServerName == "" {
		secured.ServerName = server.Hostname()
	}
	secured.NextProtos = []string{"http/1.1"} // a connection of HTTP/2 becomes no WebSocket
	over := tls.Client(conn, secured)
	if err := over.HandshakeContext(ctx); err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	return over, nil
}

// ProxyFor is what leads to the server of a configuration, as client-go has it.
func ProxyFor(config *rest.Config) func(*http.Request) (*url.URL, error) {
	if config.Proxy != nil {
		return config.Proxy
	}
	return utilnet.NewProxierWithNoProxyCIDR(http.ProxyFromEnvironment)
}

// address is the host and port of a URL.
func address(u *url.URL) string {
	port := u.Port()
	if port == "" {
		port = map[string]string{"https": "443", "http": "80"}[u.Scheme]
	}
	return net.JoinHostPort(u.Hostname(), port)
}
