package store

import (
	"cmp"
	"crypto/tls"
	"fmt"
	"net"
	"net/url"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/nats-io/jwt/v2"
	"github.com/nats-io/nats.go"

	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/secret"
)

// NATSConfig says how NATS is reached: by a URL, or as a Service of the cluster through the API server.
type NATSConfig struct {
	URL     string        `yaml:"url"`
	Service ServiceConfig `yaml:"service"`

	User     string      `yaml:"user"`
	Password secret.Text `yaml:"password"`
	Token    secret.Text `yaml:"token"`
	// Credentials is a file with a JWT and its key, as `nsc` writes it.
	Credentials string    `yaml:"credentials"`
	TLS         TLSConfig `yaml:"tls"`
}

// ServiceConfig names a Service of the cluster.
type ServiceConfig struct {
	Namespace string `yaml:"namespace"`
	Name      string `yaml:"name"`
	Port      int    `yaml:"port"` // 4222 if not given
}

// TLSConfig says how the server's certificate is checked, and which one the client has. A server that requires TLS gets
// it without any of this, if the system knows its CA.
type TLSConfig struct {
	// CA is a file with the certificates that are trusted in place of the system's.
	CA string `yaml:"ca"`
	// Cert and Key are files with the client's certificate, for mutual TLS.
	Cert string `yaml:"cert"`
	Key  string `yaml:"key"`
	// ServerName is the name in the server's certificate, where that is neither the
	// host of the URL nor <name>.<namespace>.svc of the Service.
	ServerName string `yaml:"serverName"`
}

const defaultPort = 4222

// IsSet is true if the configuration says where NATS is.
func (c NATSConfig) IsSet() bool { return c.URL != "" || c.Service.Name != "" }

// address is the URL. A Service's is the name that it has in the cluster, so
// that a certificate is checked against that.
func (c NATSConfig) address() string {
	if c.Service.Name == "" {
		return c.URL
	}
	port := strconv.Itoa(cmp.Or(c.Service.Port, defaultPort))
	return "nats://" + net.JoinHostPort(fmt.Sprintf("%s.%s.svc", c.Service.Name, c.Service.Namespace), port)
}

// Problems are what is wrong with the configuration, each as a sentence about a key below the given one.
func (c NATSConfig) Problems(key string) (problems []string) {
	say := func(wrong bool, format string, args ...any) {
		if wrong {
			problems = append(problems, key+fmt.Sprintf(format, args...))
		}
	}
	logins := 0
	for _, isSet := range []bool{c.User != "", c.Token != "", c.Credentials != ""} {
		if isSet {
			logins++
		}
	}
	service := c.Service
	say(c.URL != "" && service != ServiceConfig{}, ": url and service are mutually exclusive")
	say(service.Name == "" && service != ServiceConfig{}, ".service.name is missing")
	say(service.Name != "" && service.Namespace == "", ".service.namespace is missing")
	say(service.Port < 0 || service.Port > 65535, ".service.port: invalid port %d", service.Port)
	say(c.User == "" && c.Password != "", ".password requires %s.user", key)
	say(logins > 1, ": user, token and credentials are mutually exclusive")
	say((c.TLS.Cert == "") != (c.TLS.Key == ""), ".tls: cert and key must be set together")
	say(strings.ContainsAny(c.TLS.ServerName, "/ "), ".tls.serverName: invalid hostname %q", c.TLS.ServerName)
	for address := range strings.SplitSeq(c.URL, ",") {
		problem := urlProblem(strings.TrimSpace(address))
		say(c.URL != "" && problem != "", ".url: %s", problem)
	}
	return problems
}

// urlProblem does not repeat the URL, which may have a password in it.
func urlProblem(address string) string {
	u, err := url.Parse(address)
	switch {
	case err != nil || u.Host == "":
		return "invalid URL, must be like nats://host:4222"
	case u.Scheme != "nats" && u.Scheme != "tls" && u.Scheme != "ws" && u.Scheme != "wss":
		return fmt.Sprintf("scheme %q: must be one of nats, tls, ws, wss", u.Scheme)
	case u.User != nil:
		return "must not have a password or token in it, because it is printed: use the keys password or token"
	}
	return ""
}

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
		{c.TLS != TLSConfig{}, "tls", nats.Secure(&tls.Config{
			MinVersion: tls.VersionTLS12, ServerName: c.TLS.ServerName,
		})},
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
