package store

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
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

// NATS is a connection to NATS. It is made in the background, and again whenever it is lost.
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

// OpenNATS begins to connect, until Close. A dialer, such as Forward, is used in place of the network; nil for none.
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
	options.RetryOnFailedConnect, options.MaxReconnect = true, -1
	options.CustomReconnectDelayCB = func(attempts int) time.Duration {
		// A server that refuses the login is not asked four times a second for as long as a command takes.
		return min(time.Duration(attempts)*redialFirst, redialMost)
	}
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

// note keeps why there is no connection; nil where there is one. A lost connection does not replace a refusal: the
// server closes it right after the refusal, and that alone would say nothing.
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

// fault says what an error of NATS means. Where it is only that there is no
// connection or that time ran out, the reason for that says more.
func (b *Bucket) fault(err error) error {
	n := b.nats
	if _, ok := errors.AsType[*fault.Error](err); ok || err == nil || errors.Is(err, context.Canceled) {
		return err
	}
	address := n.config.address()
	last, denied := n.reasons()
	switch {
	case last != nil:
		return n.unconnected(last, time.Now())
	case denied != nil && isLate(err):
		return fault.New(fault.PermissionDenied, "NATS at %s does not allow this user (%s) to use the bucket %s: %w",
			address, n.setting.Key, b.name, denied).
			WithHint("let the user publish to $JS.API.> and $KV.%s.>, and subscribe to _INBOX.>; or have "+
				"the bucket created", b.name)
	case errors.Is(err, jetstream.ErrJetStreamNotEnabled), errors.Is(err, jetstream.ErrJetStreamNotEnabledForAccount),
		errors.Is(err, nats.ErrNoResponders):
		return fault.New(fault.Unavailable, "NATS at %s has no JetStream: %w", address, err).
			WithHint("start nats-server with --jetstream, or %s", n.setting.Without)
	}
	what := "cannot be reached"
	if _, ok := errors.AsType[*jetstream.APIError](err); ok {
		what = "refuses the bucket " + b.name
	} else if isLate(err) {
		what = "does not answer"
	}
	return fault.New(fault.Unavailable, "NATS at %s %s: %w", address, what, err)
}

// unconnected is the error about a missing connection: why, and which key of the configuration that is about.
func (n *NATS) unconnected(err error, now time.Time) error {
	address, key := n.config.address(), n.setting.Key
	if isRefusal(err) {
		cause := n.config.refusedTLS(key, err)
		if isLogin(err) {
			cause = n.config.refusedLogin(key, now)
		}
		return fault.New(fault.Unauthenticated, "NATS at %s %s: %w", address, cause, err).
			WithHint("correct it in the configuration, or %s", n.setting.Without)
	}
	code, hint := fault.Unavailable, "check that it runs, and that the configuration says where"
	if f, ok := errors.AsType[*fault.Error](err); ok { // on the way through the API server
		code, hint = f.Code, f.Hint
	}
	way := "url"
	if n.config.Service.Name != "" {
		way = "service"
	}
	return fault.New(code, "NATS at %s cannot be reached (%s.%s): %w", address, key, way, err).WithHint("%s", hint)
}

func isLate(err error) bool {
	return errors.Is(err, context.DeadlineExceeded) || errors.Is(err, nats.ErrTimeout)
}

// isRefusal is true for what does not pass by itself: one side does not accept the other's login or certificate.
func isRefusal(err error) bool {
	return isLogin(err) || errors.Is(err, nats.ErrSecureConnWanted) || errors.Is(err, nats.ErrTLS) || isAlert(err)
}

// isAlert is true for an alert of TLS by which the server ends the connection. There is no type for it.
func isAlert(err error) bool {
	op, ok := errors.AsType[*net.OpError](err)
	return ok && op.Op == "remote error"
}

func isLogin(err error) bool {
	return errors.Is(err, nats.ErrAuthorization) || errors.Is(err, nats.ErrAuthExpired) ||
		errors.Is(err, nats.ErrAuthRevoked)
}

func (c NATSConfig) refusedLogin(key string, now time.Time) string {
	switch {
	case c.User != "":
		return fmt.Sprintf("rejects the user and password (%[1]s.user, %[1]s.password)", key)
	case c.Token != "":
		return fmt.Sprintf("rejects the token (%s.token)", key)
	case c.Credentials == "" && c.TLS.Cert != "":
		return fmt.Sprintf("rejects the user of the client certificate (%s.tls.cert)", key)
	case c.Credentials == "":
		return fmt.Sprintf("requires a login (%[1]s.user, %[1]s.token or %[1]s.credentials)", key)
	}
	if at, err := readCredentials(c.Credentials); err == nil && !at.IsZero() && !at.After(now) {
		return fmt.Sprintf("rejects the credentials, which expired at %s (%s.credentials)", at.Format(time.RFC3339),
			key)
	}
	return fmt.Sprintf("rejects the credentials (%s.credentials)", key)
}

func (c NATSConfig) refusedTLS(key string, err error) string {
	_, unknownCA := errors.AsType[x509.UnknownAuthorityError](err)
	_, otherHost := errors.AsType[x509.HostnameError](err)
	invalid, isInvalid := errors.AsType[x509.CertificateInvalidError](err)
	// A server that hangs up right after the handshake has seen the certificate then.
	aboutClient := isAlert(err) && strings.Contains(err.Error(), "certificate") ||
		strings.Contains(err.Error(), "after TLS handshake")
	switch {
	case errors.Is(err, nats.ErrSecureConnWanted):
		return fmt.Sprintf("does not offer TLS, which %s.tls requires", key)
	case unknownCA && c.TLS.CA == "":
		return fmt.Sprintf("has a certificate of a CA that is unknown to the system (%s.tls.ca)", key)
	case unknownCA:
		return fmt.Sprintf("has a certificate of another CA than %s.tls.ca", key)
	case otherHost:
		return fmt.Sprintf("has a certificate for another hostname (%s.tls.serverName)", key)
	case isInvalid && invalid.Reason == x509.Expired:
		return fmt.Sprintf("has a certificate that has expired or is not yet valid (%s.tls)", key)
	case aboutClient && c.TLS.Cert == "":
		return fmt.Sprintf("requires a client certificate (%[1]s.tls.cert, %[1]s.tls.key)", key)
	case aboutClient:
		return fmt.Sprintf("rejects the client certificate (%s.tls.cert)", key)
	}
	return fmt.Sprintf("fails the TLS handshake (%s.tls)", key)
}
