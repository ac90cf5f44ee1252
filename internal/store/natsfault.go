package store

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/berthdev/berth/internal/fault"
)

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
			WithHint("let the user publish to $JS.API.> and $KV.%s.>, and subscribe to _INBOX.>; or have the bucket created",
				b.name)
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

// unconnected is the error about a missing connection: why, and which key of the
// configuration that is about.
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

// isRefusal is true for what does not pass by itself: one side does not accept the
// other's login or certificate.
func isRefusal(err error) bool {
	return isLogin(err) || errors.Is(err, nats.ErrSecureConnWanted) || errors.Is(err, nats.ErrTLS) || isAlert(err)
}

// isAlert is true for an alert of TLS by which the server ends the connection. There
// is no type for it.
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
		return fmt.Sprintf("rejects the credentials, which expired at %s (%s.credentials)", at.Format(time.RFC3339), key)
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
