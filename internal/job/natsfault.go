package job

import (
	"context"
	"crypto/x509"
	"errors"
	"net"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/berthdev/berth/internal/fault"
)

// fault says what an error of NATS means. Where it is only that there is no
// connection or that time ran out, the reason for that says more.
func (n *NATS) fault(err error) error {
	if err == nil || errors.Is(err, context.Canceled) {
		return err
	}
	last, denied := n.reasons()
	switch {
	case last != nil:
		return n.config.unconnected(last, time.Now())
	case denied != nil && isLate(err):
		return fault.New(fault.PermissionDenied, "NATS at %s does not allow this user (jobs.nats) what the bucket %s takes: %w", n.name, Bucket, denied).
			WithHint("let the user publish to $JS.API.> and $KV.%s.>, and subscribe to _INBOX.>; or have the bucket made", Bucket)
	case errors.Is(err, jetstream.ErrJetStreamNotEnabled), errors.Is(err, jetstream.ErrJetStreamNotEnabledForAccount), errors.Is(err, nats.ErrNoResponders):
		return fault.New(fault.Unavailable, "NATS at %s has no JetStream: %w", n.name, err).
			WithHint("start nats-server with --jetstream, or set jobs.store to cluster")
	case isLate(err):
		return fault.New(fault.Unavailable, "NATS at %s does not answer: %w", n.name, err)
	}
	if _, ok := errors.AsType[*jetstream.APIError](err); ok {
		return fault.New(fault.Unavailable, "NATS at %s refuses the bucket %s: %w", n.name, Bucket, err)
	}
	return fault.New(fault.Unavailable, "NATS at %s cannot be reached: %w", n.name, err)
}

func isLate(err error) bool {
	return errors.Is(err, context.DeadlineExceeded) || errors.Is(err, nats.ErrTimeout)
}

// isRefusal is true for what does not pass by itself: one side does not take the
// other for whom it should be.
func isRefusal(err error) bool {
	return isLogin(err) || errors.Is(err, nats.ErrSecureConnWanted) || errors.Is(err, nats.ErrTLS) || isAlert(err)
}

// isAlert is true for what the server says over TLS before it hangs up. There is
// no type for it.
func isAlert(err error) bool {
	op, ok := errors.AsType[*net.OpError](err)
	return ok && op.Op == "remote error"
}

func isLogin(err error) bool {
	return errors.Is(err, nats.ErrAuthorization) || errors.Is(err, nats.ErrAuthExpired) || errors.Is(err, nats.ErrAuthRevoked)
}

// unconnected is the error about a connection that is not there: why, and which
// key of the configuration that is about.
func (c NATSConfig) unconnected(err error, now time.Time) error {
	if f, ok := errors.AsType[*fault.Error](err); ok { // on the way through the API server
		return fault.New(f.Code, "NATS at %s cannot be reached (jobs.nats.%s): %w", c.address(), c.way(), err).WithHint("%s", f.Hint)
	}
	if !isRefusal(err) {
		return fault.New(fault.Unavailable, "NATS at %s cannot be reached (jobs.nats.%s): %w", c.address(), c.way(), err).
			WithHint("check that it runs, and that the configuration says where")
	}
	cause := c.refusedTLS(err)
	if isLogin(err) {
		cause = c.refusedLogin(now)
	}
	return fault.New(fault.Unauthenticated, "NATS at %s %s: %w", c.address(), cause, err).
		WithHint("correct it in the configuration, or set jobs.store to cluster")
}

// way is the key of how NATS is reached.
func (c NATSConfig) way() string {
	if c.Service.Name != "" {
		return "service"
	}
	return "url"
}

func (c NATSConfig) refusedLogin(now time.Time) string {
	switch {
	case c.User != "":
		return "does not accept the user and the password (jobs.nats.user, jobs.nats.password)"
	case c.Token != "":
		return "does not accept the token (jobs.nats.token)"
	case c.Credentials == "" && c.TLS.Cert != "":
		return "does not let the owner of the client certificate in (jobs.nats.tls.cert)"
	case c.Credentials == "":
		return "wants a login (jobs.nats.user, jobs.nats.token or jobs.nats.credentials)"
	}
	if until := expiry(c.Credentials); !until.IsZero() && !until.After(now) {
		return "does not accept the credentials, which expired at " + until.Format(time.RFC3339) + " (jobs.nats.credentials)"
	}
	return "does not accept the credentials (jobs.nats.credentials)"
}

func (c NATSConfig) refusedTLS(err error) string {
	if errors.Is(err, nats.ErrSecureConnWanted) {
		return "has no TLS, which jobs.nats.tls asks for"
	}
	if _, ok := errors.AsType[x509.UnknownAuthorityError](err); ok {
		if c.TLS.CA == "" {
			return "has a certificate of a CA that the system does not know (jobs.nats.tls.ca)"
		}
		return "has a certificate of another CA than that of jobs.nats.tls.ca"
	}
	if _, ok := errors.AsType[x509.HostnameError](err); ok {
		return "has a certificate for another name (jobs.nats.tls.serverName)"
	}
	if invalid, ok := errors.AsType[x509.CertificateInvalidError](err); ok && invalid.Reason == x509.Expired {
		return "has a certificate that has expired, or is not valid yet (jobs.nats.tls)"
	}
	// A server that hangs up right after the handshake has seen the certificate then.
	aboutClient := isAlert(err) && strings.Contains(err.Error(), "certificate") || strings.Contains(err.Error(), "after TLS handshake")
	switch {
	case aboutClient && c.TLS.Cert == "":
		return "wants a client certificate (jobs.nats.tls.cert, jobs.nats.tls.key)"
	case aboutClient:
		return "does not accept the client certificate (jobs.nats.tls.cert)"
	}
	return "cannot be spoken to over TLS (jobs.nats.tls)"
}
