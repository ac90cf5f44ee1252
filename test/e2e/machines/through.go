package main

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net/http"
	"net/http/httputil"
	"net/url"
	"os"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// through passes a connection on to another server, whatever protocol it is upgraded to.
type through struct {
	at        *url.URL
	authority string // the file that the server's certificate is verified with
	insecure  bool
	token     string
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
	transport := &http.Transport{TLSClientConfig: security}
	defer transport.CloseIdleConnections()
	proxy := &httputil.ReverseProxy{
		Transport: transport,
		Rewrite: func(p *httputil.ProxyRequest) {
			p.Out.URL, p.Out.Host = t.at, t.at.Host
			for _, name := range []string{"X-Remote-User", "X-Remote-Uid", "X-Remote-Group"} {
				p.Out.Header.Del(name)
			}
			p.Out.Header.Set("Authorization", "Bearer "+t.token)
		},
		ErrorHandler: func(w http.ResponseWriter, _ *http.Request, err error) {
			fmt.Println(err)
			refuse(w, http.StatusInternalServerError, metav1.StatusReasonInternalError,
				"error dialing backend: "+err.Error())
		},
	}
	proxy.ServeHTTP(w, r)
}
