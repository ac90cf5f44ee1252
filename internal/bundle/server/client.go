package server

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"time"

	"k8s.io/client-go/rest"

	"github.com/berthdev/berth/internal/credential"
	"github.com/berthdev/berth/internal/fault"
)

// Client fetches content from the server that a bundle names, with the token that the
// caller has for the API server.
type Client struct {
	Config *rest.Config // the caller's credentials
	Trust  Trust
}

// Times are bounded for a server that is reached and then says nothing.
const (
	headerTimeout = 30 * time.Second
	stallTimeout  = 30 * time.Second
)

// Fetch opens the content at a URL, of at most so many bytes. The token is sent to the
// host of the URL alone, if that is trusted, by TLS alone; a redirect is an error.
func (c Client) Fetch(ctx context.Context, contentURL string, limit int64) (io.ReadCloser, error) {
	at, err := url.Parse(contentURL)
	if err != nil || at.Scheme != "https" || at.Host == "" || at.User != nil {
		return nil, fault.New(fault.InvalidArgument,
			"the content cannot be fetched from %q: it has to be an https URL without a login", contentURL).
			WithHint("the provisioner that unpacked the bundle has set the URL; ask its administrators")
	}
	if err := c.Trust.mayHaveToken(at); err != nil {
		return nil, err
	}
	transport, err := c.transport()
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancelCause(ctx)
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, at.String(), http.NoBody)
	if err != nil {
		cancel(nil)
		return nil, fault.New(fault.InvalidArgument, "the content cannot be fetched from %q: %w", contentURL, err)
	}
	client := &http.Client{
		Transport:     transport,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	response, err := client.Do(request)
	if err == nil {
		err = problem(response, at.Host)
	} else if err = credential.WithoutURL(err); fault.CodeOf(err) == fault.Internal {
		err = unreachable(at, err)
	}
	if err != nil {
		cancel(nil)
		return nil, err
	}
	return newBody(http.MaxBytesReader(nil, response.Body, limit), at.Host, cancel), nil
}

// transport sends the caller's token, whatever it comes from: the kubeconfig, a file,
// a login program.
func (c Client) transport() (http.RoundTripper, error) {
	if c.Config.Impersonate.UserName != "" {
		return nil, fault.New(fault.InvalidArgument, "content cannot be fetched as another user (--as)").
			WithHint("leave out --as: the content server knows only whose token it is sent")
	}
	pool, err := c.Trust.pool()
	if err != nil {
		return nil, err
	}
	security := &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: pool}
	config := rest.CopyConfig(c.Config)
	config.WrapTransport, config.Transport, config.Username, config.Password = nil, nil, "", ""
	inner := &http.Transport{
		Proxy: http.ProxyFromEnvironment, TLSClientConfig: security, TLSHandshakeTimeout: headerTimeout,
		ResponseHeaderTimeout: headerTimeout, ForceAttemptHTTP2: true, DisableKeepAlives: true,
		DisableCompression: true,
	}
	outer, err := rest.HTTPWrappersForConfig(config, withToken{inner})
	if err != nil {
		return nil, fault.New(fault.InvalidArgument, "kubeconfig: %w", err).
			WithHint("choose a kubeconfig with --kubeconfig or KUBECONFIG, and a context with --context")
	}
	return outer, nil
}

// withToken sends nothing that has no token: the answer would only be 401.
type withToken struct{ next http.RoundTripper }

// RoundTrip sends a request.
func (t withToken) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Header.Get("Authorization") == "" {
		return nil, fault.New(fault.Unauthenticated,
			"the content server takes a token, and the credentials of the kubeconfig have none").
			WithHint("use a context whose user has a token, such as that of a ServiceAccount: kubectl " +
				"create token NAME")
	}
	return t.next.RoundTrip(r)
}

// unreachable is why a server did not even answer.
func unreachable(at *url.URL, err error) error {
	hint := "see whether the server runs, and whether it is reached from here"
	unresolved, isDNS := errors.AsType[*net.DNSError](err)
	_, isCertificate := errors.AsType[*tls.CertificateVerificationError](err)
	switch {
	case isDNS && unresolved.IsNotFound && isService(at.Hostname()):
		return fault.New(fault.Unavailable,
			"the content is at %s, a Service of the cluster, whose name is not known outside of it", at.Host).
			WithHint("let `berth serve bundles` install it from inside of the cluster")
	case isCertificate:
		hint = "name the CA that the server's administrator hands out with --" + FlagCA
	}
	return fault.New(fault.Unavailable, "the content server %s cannot be reached: %w", at.Host, err).
		WithHint("%s", hint)
}

// problem is what an answer other than the content means; it closes that answer.
func problem(response *http.Response, host string) error {
	if response.StatusCode == http.StatusOK {
		return nil
	}
	response.Body.Close()
	switch code := response.StatusCode; {
	case code == http.StatusUnauthorized:
		return fault.New(fault.Unauthenticated, "the content server %s does not accept your token", host).
			WithHint("log in again, or choose another context with --context")
	case code == http.StatusForbidden:
		return fault.New(fault.PermissionDenied, "you may not read the content of bundles at %s", host).
			WithHint("ask for the ClusterRole %s: kubectl create clusterrolebinding NAME --clusterrole %s --user YOU",
				ReaderRole, ReaderRole)
	case code == http.StatusNotFound:
		return fault.New(fault.NotFound, "the content server %s does not have the bundle", host).
			WithHint("see whether the bundle is unpacked: kubectl get bundles")
	case code == http.StatusTooManyRequests, code >= http.StatusInternalServerError:
		return fault.New(fault.Unavailable, "the content server %s answers %s", host, response.Status).
			WithHint("try again in a while")
	}
	return fault.New(fault.Unavailable, "the content server %s answers %s instead of the content", host,
		response.Status).
		WithHint("the provisioner that unpacked the bundle has set the URL; ask its administrators")
}
