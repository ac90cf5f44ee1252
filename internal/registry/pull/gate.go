package pull

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"path"
	"strings"
	"sync/atomic"
	"time"

	"github.com/opencontainers/go-digest"
	"golang.org/x/net/publicsuffix"

	"github.com/berthdev/berth/internal/credential"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/pace"
)

// gate is what every request goes through. A login goes to the registry and its token server alone, and nothing goes
// over the network without TLS, unless it is allowed. A server that is silent for too long is given up.
type gate struct {
	host    string // of the registry, with its port
	scheme  string // of the registry
	plain   bool   // the registry may do without TLS
	any     bool   // every other server may do so as well
	silence time.Duration
	base    http.RoundTripper
	sent    atomic.Int64 // requests
}

func newGate(host string, p Puller) *gate {
	return &gate{
		host: host, scheme: "https", plain: p.Insecure || credential.IsLoopback(hostname(host)), any: p.Insecure,
		silence: p.Silence,
		base:    cmp.Or[http.RoundTripper](p.Transport, credential.Transport{}),
	}
}

const (
	maxRedirects = 5
	// maxRequests is for all of one image, or one list of tags: a registry decides how many there are by redirects and
	// by the pages of its lists, which may have nothing on them.
	maxRequests = 1000
)

// redirect is for http.Client.
func (g *gate) redirect(_ *http.Request, via []*http.Request) error {
	if len(via) >= maxRedirects {
		return fmt.Errorf("stopped after %d redirects", maxRedirects)
	}
	return nil
}

func (g *gate) RoundTrip(r *http.Request) (*http.Response, error) {
	if g.sent.Add(1) > maxRequests {
		return nil, fault.New(fault.Failed, "registry %s is given up after %d requests", g.host, maxRequests).
			WithReason(ReasonTooLarge).WithHint("ask the administrator of the registry why its lists do not end")
	}
	ofRegistry := r.URL.Scheme == g.scheme && r.URL.Host == g.host
	if !ofRegistry {
		if r.URL.Scheme != "https" && !g.any && (!g.plain || !credential.IsLoopback(r.URL.Hostname())) {
			return nil, fault.New(fault.Failed, "registry %s leads to %s://%s, without TLS", g.host, r.URL.Scheme,
				r.URL.Host).
				WithReason(ReasonUntrusted).WithHint("ask the administrator of the registry")
		}
		// The token server gets the login; storage that a layer is on gets nothing. Which
		// of the two this is, the registry alone says.
		if r.Header.Get("Authorization") != "" || r.Body != nil && r.Body != http.NoBody {
			if err := g.tokenServer(r.URL); err != nil {
				return nil, err
			}
		}
	}
	response, err := g.send(r)
	if err == nil {
		unclaimed(r.URL.Path, response)
	}
	if err == nil && ofRegistry && response.StatusCode == http.StatusUnauthorized {
		if err := g.challenged(response); err != nil {
			response.Body.Close()
			return nil, err
		}
	}
	return response, err
}

// unclaimed replaces what an answer says of its own digest and length by what was asked for. Both
// are verified as the content is read; an answer that contradicts itself would end before that,
// with an error that cannot be told from one of the connection.
func unclaimed(of string, response *http.Response) {
	const header = "Docker-Content-Digest"
	dir, name := path.Split(of)
	switch manifest := strings.HasSuffix(dir, "/manifests/"); {
	case response.StatusCode != http.StatusOK:
	case !manifest:
		response.Header.Del(header)
		response.ContentLength = -1
	case digest.Digest(name).Validate() == nil:
		response.Header.Set(header, name)
	}
}

// challenged checks the token server that the registry names, before it is asked for anything.
func (g *gate) challenged(response *http.Response) error {
	for _, challenge := range response.Header.Values("WWW-Authenticate") {
		_, rest, ok := strings.Cut(challenge, `realm="`)
		realm, _, _ := strings.Cut(rest, `"`)
		if scheme, _, _ := strings.Cut(challenge, " "); !ok || !strings.EqualFold(scheme, "bearer") {
			continue
		}
		address, err := url.Parse(realm)
		if err == nil {
			err = g.tokenServer(address)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// tokenServer refuses a token server of somebody else: anyone who runs it gets the login.
func (g *gate) tokenServer(address *url.URL) error {
	encrypted := address.Scheme == "https" || address.Scheme == "http" &&
		(g.any || g.plain && credential.IsLoopback(address.Hostname()))
	if encrypted && sameDomain(address.Hostname(), hostname(g.host)) {
		return nil
	}
	return fault.New(fault.Failed, "registry %s wants a login to be sent to %s://%s, which is refused", g.host,
		address.Scheme, address.Host).
		WithReason(ReasonUntrusted).WithHint("a token server has to use https, and to be in the domain of its " +
		"registry: ask the administrator of the registry")
}

// sameDomain says whether two hosts belong to the same registrable domain.
func sameDomain(a, b string) bool {
	if strings.EqualFold(a, b) {
		return true
	}
	if isIP(a) || isIP(b) {
		return false
	}
	domain, err := publicsuffix.EffectiveTLDPlusOne(strings.ToLower(a))
	other, otherErr := publicsuffix.EffectiveTLDPlusOne(strings.ToLower(b))
	return err == nil && otherErr == nil && domain == other
}

func isIP(host string) bool {
	_, err := netip.ParseAddr(host)
	return err == nil
}

// hostname leaves out the port.
func hostname(host string) string {
	if name, _, err := net.SplitHostPort(host); err == nil {
		return name
	}
	return strings.Trim(host, "[]")
}

// silentError says that a server has sent too little for so long.
type silentError struct{ within time.Duration }

func (e silentError) Error() string { return "it " + pace.TooLittle(e.within) }

// send ends a request when too little has come for too long.
func (g *gate) send(r *http.Request) (*http.Response, error) {
	ctx, cancel := context.WithCancelCause(r.Context())
	watch := pace.New(g.silence, func() { cancel(silentError{g.silence}) })
	end := func() { watch.Disarm(); cancel(nil) }
	response, err := g.base.RoundTrip(r.WithContext(ctx))
	if err != nil {
		end()
		return nil, why(ctx, err)
	}
	watch.Arm()
	body := response.Body
	response.Body = &patient{end: end, body: body, read: func(p []byte) (int, error) {
		n, err := body.Read(p)
		watch.Heard(n)
		if err != nil && !errors.Is(err, io.EOF) {
			err = why(ctx, err)
		}
		return n, err
	}}
	return response, nil
}

// why is the reason of an error that the context may have caused.
func why(ctx context.Context, err error) error {
	if silent, is := errors.AsType[silentError](context.Cause(ctx)); is {
		return silent
	}
	return err
}

// patient is the body of an answer.
type patient struct {
	read func([]byte) (int, error)
	end  func()
	body io.Closer
}

func (p *patient) Read(b []byte) (int, error) { return p.read(b) }

func (p *patient) Close() error {
	p.end()
	return p.body.Close()
}
