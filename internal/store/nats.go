package store

import (
	"context"
	"errors"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/berthdev/berth/internal/fault"
)

// How a connection to NATS is kept.
const (
	dialTimeout  = 2 * time.Second
	redialFirst  = 250 * time.Millisecond
	redialMost   = time.Second
	pingInterval = 5 * time.Second
	pingsMissed  = 1 // before the connection is given up
)

// NATS is a connection to NATS. It is made in the background, and again whenever
// it is lost.
type NATS struct {
	config  NATSConfig
	setting Setting

	created   chan struct{} // closed once conn or err is set
	conn      *nats.Conn
	err       error         // why there will never be a connection
	attempted chan struct{} // closed once the first attempt has ended

	mu     sync.Mutex
	last   error // why it is not connected at the moment
	denied error // what the user of NATS was last not allowed to do
}

// Setting is what messages say about the configuration: Key is where it has the
// NATSConfig, such as jobs.nats, and Without what to do to keep documents elsewhere.
type Setting struct{ Key, Without string }

// OpenNATS begins to connect, until Close. A dialer, such as Forward, is used in
// place of the network; nil for none.
func OpenNATS(c NATSConfig, setting Setting, dialer nats.CustomDialer) *NATS {
	n := &NATS{config: c, setting: setting, created: make(chan struct{}), attempted: make(chan struct{})}
	go func() {
		defer close(n.created)
		n.conn, n.err = n.connect(dialer)
	}()
	return n
}

// connect fails only where trying again would not help: the rest is up to the
// connection, which is made again until it is closed.
func (n *NATS) connect(dialer nats.CustomDialer) (*nats.Conn, error) {
	options := nats.GetDefaultOptions()
	options.Name, options.Timeout = "berth", dialTimeout
	options.RetryOnFailedConnect, options.MaxReconnect, options.CustomReconnectDelayCB = true, -1, redialAfter
	options.IgnoreAuthErrorAbort = true
	// What cannot be sent now fails; the caller sends it again, in its newest state.
	options.ReconnectBufSize = -1
	options.PingInterval, options.MaxPingsOut = pingInterval, pingsMissed
	options.DisconnectedErrCB = func(_ *nats.Conn, err error) { n.note(err) }
	options.ReconnectErrCB = options.DisconnectedErrCB
	options.AsyncErrorCB = func(_ *nats.Conn, _ *nats.Subscription, err error) { n.noteAsync(err) }
	options.ConnectedCB = func(*nats.Conn) { n.note(nil) }
	options.ReconnectedCB = options.ConnectedCB
	if dialer != nil {
		// Names and addresses of the cluster mean nothing here.
		options.CustomDialer, options.SkipHostLookup, options.IgnoreDiscoveredServers = dialer, true, true
	}
	if err := n.config.login(&options, n.setting.Key); err != nil {
		return nil, err
	}
	options.Servers = strings.FieldsFunc(n.config.address(), func(r rune) bool { return r == ',' || r == ' ' })
	conn, err := options.Connect()
	if err != nil {
		return nil, fault.New(fault.InvalidArgument, "NATS at %s cannot be reached with this configuration (%s): %w",
			n.config.address(), n.setting.Key, err)
	}
	return conn, nil
}

// Close ends the connection, when there is one.
func (n *NATS) Close() {
	go func() {
		<-n.created
		if n.conn != nil {
			n.conn.Close()
		}
	}()
}

// redialAfter is short at first and longer later: a server that refuses the login
// is not asked four times a second for as long as a command takes.
func redialAfter(attempts int) time.Duration {
	return min(time.Duration(attempts)*redialFirst, redialMost)
}

// note keeps why there is no connection; nil where there is one. A lost connection
// does not replace a refusal: the server closes it right after the refusal, and
// that alone would say nothing.
func (n *NATS) note(err error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if err == nil {
		n.last, n.denied = nil, nil
	} else if n.last == nil || isRefusal(err) || !isRefusal(n.last) {
		n.last = err
	}
	select {
	case <-n.attempted:
	default:
		close(n.attempted)
	}
}

// noteAsync keeps what the server reports on an open connection.
func (n *NATS) noteAsync(err error) {
	if errors.Is(err, nats.ErrPermissionViolation) {
		n.mu.Lock()
		defer n.mu.Unlock()
		n.denied = err
		return
	}
	if isRefusal(err) {
		n.note(err)
	}
}

// reasons are why it is not connected, and what was last not allowed.
func (n *NATS) reasons() (last, denied error) {
	select {
	case <-n.created:
		// No handler is called for a refusal of a later attempt.
		if n.conn != nil && !n.conn.IsConnected() && isRefusal(n.conn.LastError()) {
			n.note(n.conn.LastError())
		}
	default:
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.last, n.denied
}

// jetStream waits until it is known whether there is a connection.
func (n *NATS) jetStream(ctx context.Context) (jetstream.JetStream, error) {
	for _, done := range []chan struct{}{n.created, n.attempted} {
		select {
		case <-done:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
		if n.err != nil {
			return nil, n.err
		}
	}
	return jetstream.New(n.conn)
}
