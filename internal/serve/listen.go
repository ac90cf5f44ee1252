package serve

import (
	"context"
	"crypto/tls"
	"net"
	"time"

	"github.com/berthdev/berth/internal/fault"
)

// listen opens a port. Without a certificate only this host may be listened on: tokens would be sent in the clear.
func listen(ctx context.Context, address, flag string, security *tls.Config) (net.Listener, error) {
	listener, err := (&net.ListenConfig{KeepAliveConfig: keepAlive()}).Listen(ctx, "tcp", address)
	if err != nil {
		return nil, fault.New(fault.Unavailable, "cannot listen on %s: %w", address, err).
			WithHint("choose another address with %s", flag)
	}
	if security != nil {
		security = security.Clone()
		security.NextProtos = []string{"h2", "http/1.1"}
		return tls.NewListener(listener, security), nil
	}
	if !isLoopback(listener) {
		listener.Close()
		return nil, fault.New(fault.InvalidArgument, "plain HTTP is served on this host only, not on %s", address).
			WithHint("set --tls-cert and --tls-key, or %s 127.0.0.1:PORT", flag)
	}
	return listener, nil
}

// keepAlive finds a client that is gone without a word after a minute at most, if nothing is on the way to it. If
// something is, the kernel gives up as it does with any connection, after about a quarter of an hour: a server that
// keeps connections that long looks whether they are Silent.
func keepAlive() net.KeepAliveConfig {
	return net.KeepAliveConfig{Enable: true, Idle: 30 * time.Second, Interval: 10 * time.Second, Count: 3}
}

// ListenLoopback opens a port of this host, for what is not served to others.
func ListenLoopback(ctx context.Context, address, flag string) (net.Listener, error) {
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", address)
	if err != nil {
		return nil, fault.New(fault.Unavailable, "cannot listen on %s: %w", address, err).
			WithHint("choose another address with %s", flag)
	}
	if !isLoopback(listener) {
		listener.Close()
		return nil, fault.New(fault.InvalidArgument, "%s must be an address of this host alone, got %s", flag, address).
			WithHint("set %s 127.0.0.1:PORT", flag)
	}
	return listener, nil
}

func isLoopback(listener net.Listener) bool {
	at, ok := listener.Addr().(*net.TCPAddr)
	return ok && at.IP.IsLoopback()
}

const (
	// unanswered is how long the other end may leave what it has room for unacknowledged: as long as keep-alive takes
	// where nothing is on the way.
	unanswered = time.Minute
	// unprobed is how long nothing at all may come. A client that does not read answers the kernel's questions whether
	// there is room, of which there is one in two minutes at least.
	unprobed = 5 * time.Minute
)

// Silent is true if the other end of a connection is certainly gone: it acknowledges nothing any more. Keep-alive
// notices that only where nothing is on the way, and TCP_USER_TIMEOUT ends those, too, that are there and only do not
// read. False where the system does not tell.
func Silent(conn net.Conn) bool {
	if secured, ok := conn.(*tls.Conn); ok {
		conn = secured.NetConn()
	}
	if tcp, ok := conn.(*net.TCPConn); ok {
		last, known := acknowledged(tcp)
		return known && last.silent()
	}
	return false
}

// acknowledgement is what is known of the last one of the other end.
type acknowledgement struct {
	ago     time.Duration
	missing bool // something was sent after it, for which the other end had room
}

func (a acknowledgement) silent() bool {
	if a.missing {
		return a.ago >= unanswered
	}
	return a.ago >= unprobed
}
