package credential

import (
	"context"
	"net"
	"net/http"
	"net/netip"
	"syscall"
	"time"

	"github.com/berthdev/berth/internal/fault"
)

type withoutLinkLocal struct{}

// WithoutLinkLocal is for requests to what others have chosen. The clients of this package and Transport connect to no
// link-local address for them, as those of the services are that give a machine its own identity.
func WithoutLinkLocal(ctx context.Context) context.Context {
	return context.WithValue(ctx, withoutLinkLocal{}, true)
}

// Transport is http.DefaultTransport, or for requests WithoutLinkLocal one that is held to that.
type Transport struct{}

// RoundTrip implements http.RoundTripper.
func (Transport) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Context().Value(withoutLinkLocal{}) != nil {
		return guarded.RoundTrip(r)
	}
	return http.DefaultTransport.RoundTrip(r)
}

//nolint:gochecknoglobals // its connections are for all
var guarded = &http.Transport{ // as http.DefaultTransport is
	Proxy:                 http.ProxyFromEnvironment,
	DialContext:           dialerFor(true).DialContext,
	ForceAttemptHTTP2:     true,
	MaxIdleConns:          100,
	IdleConnTimeout:       90 * time.Second,
	TLSHandshakeTimeout:   10 * time.Second,
	ExpectContinueTimeout: time.Second,
}

// dial connects for a request.
func dial(ctx context.Context, network, address string) (net.Conn, error) {
	return dialerFor(ctx.Value(withoutLinkLocal{}) != nil).DialContext(ctx, network, address)
}

func dialerFor(guarded bool) *net.Dialer {
	d := &net.Dialer{Timeout: 30 * time.Second, KeepAlive: 30 * time.Second}
	if guarded {
		d.Control = refuseLinkLocal
	}
	return d
}

// refuseLinkLocal is asked about each address that a name has been resolved to, before it is connected to.
func refuseLinkLocal(_, address string, _ syscall.RawConn) error {
	at, err := netip.ParseAddrPort(address)
	if err != nil {
		return err
	}
	if at.Addr().Unmap().IsLinkLocalUnicast() {
		return fault.New(fault.PermissionDenied, "%s is a link-local address, to which a server does not connect",
			at.Addr()).
			WithHint("fetch from a server that has another address")
	}
	return nil
}
