package store

import (
	"cmp"
	"fmt"
	"net"
	"net/url"
	"strconv"
	"strings"

	"github.com/berthdev/berth/internal/secret"
)

// NATSConfig says how NATS is reached: by a URL, or as a Service of the cluster
// through the API server.
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

// TLSConfig says how the server's certificate is checked, and which one the client
// has. A server that requires TLS gets it without any of this, if the system knows
// its CA.
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

// Problems are what is wrong with the configuration, each as a sentence about a
// key below the given one.
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
