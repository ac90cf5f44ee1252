package job

import (
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/berthdev/berth/internal/secret"
)

// Retention is how long a record is kept, if nothing else is configured.
const Retention = 48 * time.Hour

// Config says where records are kept.
type Config struct {
	// Store is auto (NATS if it is configured, otherwise the cluster), nats,
	// cluster, or none.
	Store StoreKind `yaml:"store"`
	// Retention is how long records are kept, such as 72h; an existing NATS
	// bucket has its own.
	Retention string     `yaml:"retention"`
	NATS      NATSConfig `yaml:"nats"`
}

// StoreKind names a store.
type StoreKind string

// The stores.
const (
	StoreAuto    StoreKind = "auto"
	StoreNATS    StoreKind = "nats"
	StoreCluster StoreKind = "cluster"
	StoreNone    StoreKind = "none"
)

// NATSConfig says how NATS is reached: by a URL, or as a Service of the cluster
// through a forwarded port.
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

// TLSConfig says how the server is recognized, and this client by it. A server
// that wants TLS gets it without any of this, if the system knows its CA.
type TLSConfig struct {
	// CA is a file with the certificates that are trusted in place of the system's.
	CA string `yaml:"ca"`
	// Cert and Key are files with the client's certificate, for mutual TLS.
	Cert string `yaml:"cert"`
	Key  string `yaml:"key"`
	// ServerName is the name in the server's certificate, where that is not the
	// host of the URL, nor <name>.<namespace>.svc of the Service.
	ServerName string `yaml:"serverName"`
}

func (t TLSConfig) isSet() bool { return t != TLSConfig{} }

// kind is the store that is meant.
func (c Config) kind() StoreKind {
	if c.Store != "" && c.Store != StoreAuto {
		return c.Store
	}
	if c.NATS.isSet() {
		return StoreNATS
	}
	return StoreCluster
}

// Keep is how long records are kept.
func (c Config) Keep() time.Duration {
	if d, err := time.ParseDuration(c.Retention); err == nil {
		return d
	}
	return Retention
}

// UsesNATS is true if records are kept in NATS.
func (c Config) UsesNATS() bool { return c.kind() == StoreNATS }

func (n NATSConfig) isSet() bool { return n.URL != "" || n.Service.Name != "" }

// Problems are what is wrong with a configuration, each as a sentence that
// names the key.
func (c Config) Problems() (problems []string) {
	say := func(wrong bool, format string, args ...any) {
		if wrong {
			problems = append(problems, fmt.Sprintf(format, args...))
		}
	}
	switch c.Store {
	case "", StoreAuto, StoreNATS, StoreCluster, StoreNone:
	default:
		say(true, "jobs.store: %q is none of auto, nats, cluster, none", c.Store)
	}
	n := c.NATS
	say(c.Store == StoreNATS && !n.isSet(), "jobs.store is nats, but neither jobs.nats.url nor jobs.nats.service is set")
	retention, err := time.ParseDuration(c.Retention)
	say(c.Retention != "" && (err != nil || retention < time.Minute), "jobs.retention: %q is no time of a minute or more, such as 48h", c.Retention)
	say(n.URL != "" && n.Service != ServiceConfig{}, "jobs.nats.url and jobs.nats.service exclude each other")
	say(n.Service.Name == "" && n.Service != ServiceConfig{}, "jobs.nats.service.name is missing")
	say(n.Service.Name != "" && n.Service.Namespace == "", "jobs.nats.service.namespace is missing")
	say(n.Service.Port < 0 || n.Service.Port > 65535, "jobs.nats.service.port: %d is no port", n.Service.Port)
	say(n.User == "" && n.Password != "", "jobs.nats.password is set, but jobs.nats.user is not")
	ways := 0
	for _, set := range []bool{n.User != "", n.Token != "", n.Credentials != ""} {
		if set {
			ways++
		}
	}
	say(ways > 1, "jobs.nats: user, token and credentials exclude each other")
	say((n.TLS.Cert == "") != (n.TLS.Key == ""), "jobs.nats.tls: cert and key belong together")
	say(strings.ContainsAny(n.TLS.ServerName, "/ "), "jobs.nats.tls.serverName: %q is no name of a host", n.TLS.ServerName)
	for address := range strings.SplitSeq(n.URL, ",") {
		if problem := urlProblem(strings.TrimSpace(address)); n.URL != "" && problem != "" {
			problems = append(problems, "jobs.nats.url: "+problem)
		}
	}
	return problems
}

// urlProblem does not repeat the URL, which may have a password in it.
func urlProblem(address string) string {
	u, err := url.Parse(address)
	switch {
	case err != nil || u.Host == "":
		return "this is no URL such as nats://host:4222"
	case u.Scheme != "nats" && u.Scheme != "tls" && u.Scheme != "ws" && u.Scheme != "wss":
		return fmt.Sprintf("the scheme %q is none of nats, tls, ws, wss", u.Scheme)
	case u.User != nil:
		return "give the password by the key password, or the token by token: a URL is shown"
	}
	return ""
}
