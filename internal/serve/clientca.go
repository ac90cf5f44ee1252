package serve

import (
	"crypto/tls"
	"crypto/x509"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/berthdev/berth/internal/fault"
)

// FlagClientCA is the flag of the file of a ClientCA.
const FlagClientCA = "client-ca"

// ClientCA are the authorities whose certificates say who a client is, as API servers and
// kubelets have them: the common name is the user, the organizations are the groups. The file
// is read again when it changes.
type ClientCA struct {
	file   string
	now    func() time.Time
	broken func(error) // told when a changed file cannot be used

	mu     sync.Mutex
	looked time.Time
	seen   stamp
	pool   *x509.CertPool
}

// NewClientCA reads the certificates of authorities. Broken is called with the error of a file
// that has changed and cannot be used; until it can be, those before it stay.
func NewClientCA(file string, now func() time.Time, broken func(error)) (*ClientCA, error) {
	c := &ClientCA{file: file, now: now, broken: broken, looked: now()}
	if err := c.read(); err != nil {
		return nil, err
	}
	return c, nil
}

func (c *ClientCA) read() error {
	info, err := os.Stat(c.file)
	if err != nil {
		return c.fault(err)
	}
	c.seen = stamp{modified: info.ModTime(), size: info.Size()}
	text, err := os.ReadFile(c.file)
	if err != nil {
		return c.fault(err)
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(text) {
		return c.fault(fault.New(fault.InvalidArgument, "it has no certificate"))
	}
	c.pool = pool
	return nil
}

func (c *ClientCA) fault(err error) error {
	return fault.New(fault.InvalidArgument, "the authorities of clients in %s cannot be used: %w", c.file, err).
		WithHint("the file has to have certificates in PEM")
}

// authorities are those of the file, looked at once a second at most.
func (c *ClientCA) authorities() *x509.CertPool {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := c.now()
	if now.Sub(c.looked) < lookAtMost {
		return c.pool
	}
	c.looked = now
	info, err := os.Stat(c.file)
	if err != nil {
		c.broken(c.fault(err))
		return c.pool
	}
	if (stamp{modified: info.ModTime(), size: info.Size()}) != c.seen {
		if err := c.read(); err != nil {
			c.broken(err)
		}
	}
	return c.pool
}

// User is who a client is by the certificate of its connection. Presented is false if it has
// none, or if none is asked for.
func (c *ClientCA) User(state *tls.ConnectionState) (user User, presented, valid bool) {
	if c == nil || state == nil || len(state.PeerCertificates) == 0 {
		return User{}, false, false
	}
	leaf, between := state.PeerCertificates[0], x509.NewCertPool()
	for _, certificate := range state.PeerCertificates[1:] {
		between.AddCert(certificate)
	}
	_, err := leaf.Verify(x509.VerifyOptions{
		Roots: c.authorities(), Intermediates: between, CurrentTime: c.now(),
		KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
	})
	if err != nil || leaf.Subject.CommonName == "" {
		return User{}, true, false
	}
	// The API server adds the same group to whomever it lets in.
	return User{
		Username: leaf.Subject.CommonName,
		Groups:   append(slices.Clone(leaf.Subject.Organization), "system:authenticated"),
	}, true, true
}
