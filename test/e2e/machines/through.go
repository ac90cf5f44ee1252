package main

import (
	"cmp"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net/http"
	"net/http/httputil"
	"net/url"
	"os"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// through passes a connection on to another server, whatever protocol it is upgraded to.
type through struct {
	at        *url.URL
	authority string // the file that the server's certificate is verified with
	insecure  bool
	// What the other server is shown: a token, or a certificate, whose files these are.
	token, certificate, key string
	// host is the Host that is asked for; empty for that of the URL.
	host string
}

// ServeHTTP implements http.Handler.
func (t through) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Header.Get("Upgrade") == "" {
		refuse(w, http.StatusBadRequest, metav1.StatusReasonBadRequest, "upgrade request required")
		return
	}
	security := &tls.Config{
		MinVersion:         tls.VersionTLS12,
		InsecureSkipVerify: t.insecure,
	} //nolint:gosec // if the caller asks for it
	if text, err := os.ReadFile(t.authority); err == nil {
		security.RootCAs = x509.NewCertPool()
		security.RootCAs.AppendCertsFromPEM(text)
	}
	if t.certificate != "" {
		pair, err := tls.LoadX509KeyPair(t.certificate, t.key)
		if err != nil {
			fail(w, err)
			return
		}
		security.Certificates = []tls.Certificate{pair}
	}
	transport := &http.Transport{TLSClientConfig: security}
	defer transport.CloseIdleConnections()
	proxy := &httputil.ReverseProxy{
		Transport: transport,
		Rewrite: func(p *httputil.ProxyRequest) {
			p.Out.URL, p.Out.Host = t.at, cmp.Or(t.host, t.at.Host)
			for name := range p.Out.Header {
				if strings.HasPrefix(name, "X-Remote-") {
					p.Out.Header.Del(name)
				}
			}
			p.Out.Header.Del("Authorization")
			if t.token != "" {
				p.Out.Header.Set("Authorization", "Bearer "+t.token)
			}
			p.SetXForwarded()
		},
		ErrorHandler: func(w http.ResponseWriter, _ *http.Request, err error) {
			fmt.Println(err)
			refuse(w, http.StatusInternalServerError, metav1.StatusReasonInternalError,
				"error dialing backend: "+err.Error())
		},
	}
	proxy.ServeHTTP(w, r)
}
