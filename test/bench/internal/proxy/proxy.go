// Package proxy runs between a client and an API server: it adds latency and
// records the requests.
package proxy

import (
	"context"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"sync/atomic"
	"time"

	"k8s.io/client-go/rest"
)

// Proxy speaks HTTP/2 to both sides and identifies itself to the API server as
// the kubeconfig's user for every client: it listens on this host only. A request
// is held back before it is passed on; setting up a connection is not, so a
// client that opens several is not punished for it.
type Proxy struct {
	Log
	URL   string
	CA    []byte // PEM, of the certificate it shows
	delay atomic.Int64
	http  *http.Server
	// The client certificate that the proxy shows to the API server, if any.
	certificate, key []byte
}

// Start opens a proxy in front of the API server of config.
func Start(config *rest.Config) (*Proxy, error) {
	target, err := url.Parse(config.Host)
	if err != nil {
		return nil, err
	}
	config = rest.CopyConfig(config)
	if err := rest.LoadTLSFiles(config); err != nil {
		return nil, err
	}
	transport, err := rest.TransportFor(config)
	if err != nil {
		return nil, err
	}
	tlsConfig, ca, err := selfSigned()
	if err != nil {
		return nil, err
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	p := &Proxy{URL: "https://" + listener.Addr().String(), CA: ca, certificate: config.CertData, key: config.KeyData}
	quiet := log.New(io.Discard, "", 0)
	forward := &httputil.ReverseProxy{
		Transport:     transport,
		FlushInterval: -1, // a watch's events must not wait for more of them
		ErrorLog:      quiet,
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(target)
			r.Out.Header.Del("Authorization")
		},
	}
	p.http = &http.Server{
		Handler: p.recorded(forward), TLSConfig: tlsConfig, ErrorLog: quiet,
		ReadHeaderTimeout: time.Minute,
	}
	go func() { _ = p.http.ServeTLS(listener, "", "") }()
	return p, nil
}

// SetDelay is what every request from now on is held back.
func (p *Proxy) SetDelay(d time.Duration) { p.delay.Store(int64(d)) }

// Close ends it, open watches too.
func (p *Proxy) Close() error {
	if err := p.http.Close(); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

func (p *Proxy) recorded(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		entry := p.arrived(r)
		defer p.ended(entry) // also when the client leaves, which is a panic here
		if hold(r.Context(), time.Duration(p.delay.Load())) != nil {
			return
		}
		next.ServeHTTP(&answer{ResponseWriter: w, log: &p.Log, entry: entry}, r)
	})
}

func hold(ctx context.Context, d time.Duration) error {
	if d == 0 {
		return nil
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
