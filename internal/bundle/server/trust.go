package server

import (
	"crypto/x509"
	"net"
	"net/url"
	"os"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/berthdev/berth/internal/fault"
)

// Trust says which servers the caller's token may be sent to. Anyone who may write the
// status of a bundle chooses its URL, and must not be given tokens by that.
type Trust struct {
	// Hosts are servers outside of the cluster, as HOST or HOST:PORT. A Service of the
	// cluster needs no mention: nobody outside of it is called NAME.NAMESPACE.svc.
	Hosts []string
	// CAFile has certificates in PEM that servers are checked with besides those of the
	// system; it is read for each server. Empty for none.
	CAFile string
}

// The flags that set a Trust.
const (
	FlagHost = "content-host"
	FlagCA   = "content-ca"
)

// Check finds out whether the hosts are hosts and the file has certificates.
func (t Trust) Check() error {
	for _, host := range t.Hosts {
		if at, err := url.Parse("https://" + host); err != nil || at.Host != host || at.Hostname() == "" {
			return fault.New(fault.InvalidArgument, "--%s must be HOST or HOST:PORT, got %q", FlagHost, host)
		}
	}
	_, err := t.pool()
	return err
}

// mayHaveToken refuses a server that is not trusted.
func (t Trust) mayHaveToken(at *url.URL) error {
	if isService(at.Hostname()) ||
		slices.ContainsFunc(t.Hosts, func(host string) bool { return address(host) == address(at.Host) }) {
		return nil
	}
	return fault.New(fault.PermissionDenied,
		"the content is at %s, which is no Service of the cluster: your token is not sent there", at.Host).
		WithHint("if that is the server of the program that unpacked the bundle, add --%s %s", FlagHost, at.Host)
}

// address is a host with its port.
func address(host string) string {
	host = strings.ToLower(host)
	if _, _, err := net.SplitHostPort(host); err == nil {
		return host
	}
	return net.JoinHostPort(strings.Trim(host, "[]"), "443")
}

// isService is true for the name of a Service: NAME.NAMESPACE.svc, or that below
// cluster.local. Neither can be a name of the internet.
func isService(host string) bool {
	labels := strings.Split(strings.TrimSuffix(strings.ToLower(host), ".cluster.local"), ".")
	return len(labels) == 3 && labels[2] == "svc" && len(validation.IsDNS1123Label(labels[0])) == 0 &&
		len(validation.IsDNS1123Label(labels[1])) == 0
}

// pool are the authorities that servers are checked with; nil for those of the system.
func (t Trust) pool() (*x509.CertPool, error) {
	if t.CAFile == "" {
		return nil, nil //nolint:nilnil // as in tls.Config
	}
	text, err := os.ReadFile(t.CAFile)
	if err != nil {
		return nil, fault.New(fault.InvalidArgument, "--%s: %w", FlagCA, err)
	}
	pool, err := x509.SystemCertPool()
	if err != nil {
		pool = x509.NewCertPool()
	}
	if !pool.AppendCertsFromPEM(text) {
		return nil, fault.New(fault.InvalidArgument, "--%s: %s has no certificate in PEM", FlagCA, t.CAFile).
			WithHint("take the file that the server's administrator hands out")
	}
	return pool, nil
}
