package job

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"os"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nkeys"

	"github.com/berthdev/berth/internal/fault"
)

// login is how the client shows who it is, and how it recognizes the server. The
// files are read here first, so that what is wrong with one is said of its key.
func (c NATSConfig) login() ([]nats.Option, error) {
	var options []nats.Option
	switch {
	case c.User != "":
		options = append(options, nats.UserInfo(c.User, c.Password.Reveal()))
	case c.Token != "":
		options = append(options, nats.Token(c.Token.Reveal()))
	case c.Credentials != "":
		if err := checkCredentials(c.Credentials); err != nil {
			return nil, err
		}
		options = append(options, nats.UserCredentials(c.Credentials))
	}
	if !c.TLS.isSet() {
		return options, nil
	}
	config, err := c.TLS.load()
	return append(options, nats.Secure(config)), err
}

func (t TLSConfig) load() (*tls.Config, error) {
	config := &tls.Config{MinVersion: tls.VersionTLS12, ServerName: t.ServerName}
	if t.CA != "" {
		text, err := os.ReadFile(t.CA)
		if err != nil {
			return nil, unusable("jobs.nats.tls.ca", err)
		}
		config.RootCAs = x509.NewCertPool()
		if !config.RootCAs.AppendCertsFromPEM(text) {
			return nil, fault.New(fault.InvalidArgument, "jobs.nats.tls.ca cannot be used: there is no certificate in PEM in %s", t.CA)
		}
	}
	if t.Cert != "" {
		pair, err := tls.LoadX509KeyPair(t.Cert, t.Key)
		if err != nil {
			return nil, unusable("jobs.nats.tls.cert with key", err)
		}
		config.Certificates = []tls.Certificate{pair}
	}
	return config, nil
}

// checkCredentials looks whether both are in the file, the JWT and its key.
func checkCredentials(path string) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return unusable("jobs.nats.credentials", err)
	}
	if _, err := nkeys.ParseDecoratedJWT(text); err != nil {
		return unusable("jobs.nats.credentials", err)
	}
	pair, err := nkeys.ParseDecoratedNKey(text)
	if err != nil {
		return unusable("jobs.nats.credentials", err)
	}
	pair.Wipe()
	return nil
}

func unusable(key string, err error) error {
	return fault.New(fault.InvalidArgument, "%s cannot be used: %w", key, err)
}

// expiry is until when a credentials file is valid, as it says itself; zero for
// always, or where that cannot be read. The server only says that it refuses.
func expiry(path string) time.Time {
	text, err := os.ReadFile(path)
	if err != nil {
		return time.Time{}
	}
	token, err := nkeys.ParseDecoratedJWT(text)
	parts := strings.Split(token, ".")
	if err != nil || len(parts) != 3 {
		return time.Time{}
	}
	payload, err := base64.RawURLEncoding.DecodeString(parts[1])
	if err != nil {
		return time.Time{}
	}
	var claims struct {
		Expires int64 `json:"exp"`
	}
	if err := json.Unmarshal(payload, &claims); err != nil || claims.Expires == 0 {
		return time.Time{}
	}
	return time.Unix(claims.Expires, 0).UTC()
}
