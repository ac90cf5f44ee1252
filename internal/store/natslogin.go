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

func credentials(path string) nats.Option {
	return func(o *nats.Options) error {
		if _, err := readCredentials(path); err != nil {
			return err
		}
		return nats.UserCredentials(path)(o)
	}
}

// readCredentials checks that both a JWT and its key are in the file, and returns
// when they expire; zero for never. The server only says that it refuses.
func readCredentials(path string) (expires time.Time, err error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return time.Time{}, err
	}
	pair, err := jwt.ParseDecoratedNKey(text)
	if err != nil {
		return time.Time{}, err
	}
	pair.Wipe()
	token, err := jwt.ParseDecoratedJWT(text)
	if err != nil {
		return time.Time{}, err
	}
	claims, err := jwt.DecodeUserClaims(token)
	if err != nil || claims.Expires == 0 {
		return time.Time{}, err
	}
	return time.Unix(claims.Expires, 0).UTC(), nil
}
