package store

import (
	"crypto/tls"
	"os"
	"time"

	"github.com/nats-io/jwt/v2"
	"github.com/nats-io/nats.go"

	"github.com/berthdev/berth/internal/fault"
)

// login sets how the client identifies itself and checks the server. The files are
// read here, so that an error names the key that a file belongs to.
func (c NATSConfig) login(options *nats.Options, key string) error {
	for _, o := range []struct {
		isSet  bool
		key    string
		option nats.Option
	}{
		{c.User != "", "user", nats.UserInfo(c.User, c.Password.Reveal())},
		{c.Token != "", "token", nats.Token(c.Token.Reveal())},
		{c.Credentials != "", "credentials", credentials(c.Credentials)},
		{c.TLS != TLSConfig{}, "tls", nats.Secure(&tls.Config{MinVersion: tls.VersionTLS12, ServerName: c.TLS.ServerName})},
		{c.TLS.CA != "", "tls.ca", nats.RootCAs(c.TLS.CA)},
		{c.TLS.Cert != "", "tls.cert with key", nats.ClientCert(c.TLS.Cert, c.TLS.Key)},
	} {
		if !o.isSet {
			continue
		}
		if err := o.option(options); err != nil {
			return fault.New(fault.InvalidArgument, "%s.%s cannot be used: %w", key, o.key, err)
		}
	}
	return nil
}

// credentials checks first that both the JWT and its key are in the file.
func credentials(path string) nats.Option {
	return func(o *nats.Options) error {
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if _, err := jwt.ParseDecoratedJWT(text); err != nil {
			return err
		}
		pair, err := jwt.ParseDecoratedNKey(text)
		if err != nil {
			return err
		}
		pair.Wipe()
		return nats.UserCredentials(path)(o)
	}
}

// expiry is when a credentials file expires; zero for never, or if that cannot be
// read. The server only says that it refuses.
func expiry(path string) time.Time {
	text, err := os.ReadFile(path)
	if err != nil {
		return time.Time{}
	}
	token, err := jwt.ParseDecoratedJWT(text)
	if err != nil {
		return time.Time{}
	}
	claims, err := jwt.DecodeUserClaims(token)
	if err != nil || claims.Expires == 0 {
		return time.Time{}
	}
	return time.Unix(claims.Expires, 0).UTC()
}
