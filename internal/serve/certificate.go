package serve

import (
	"crypto/tls"
	"os"
	"sync"
	"time"

	"github.com/berthdev/berth/internal/fault"
)

// Certificate is a certificate and its key in files, which are read again when they
// change. Whether they have is seen by their size and time at a handshake, at most
// once a second: that needs no goroutine, and cannot miss how the kubelet changes
// the files of a Secret, by a link to another directory.
type Certificate struct {
	cert, key string
	now       func() time.Time
	broken    func(error) // told when a changed file cannot be used

	mu     sync.Mutex
	looked time.Time
	seen   [2]stamp
	pair   *tls.Certificate
}

// stamp tells two states of a file apart.
type stamp struct {
	modified time.Time
	size     int64
}

const lookAtMost = time.Second

// NewCertificate reads a certificate. Broken is called with the error of files that
// have changed and cannot be used; until they can be, the certificate before them
// stays.
func NewCertificate(cert, key string, now func() time.Time, broken func(error)) (*Certificate, error) {
	c := &Certificate{cert: cert, key: key, now: now, broken: broken, looked: now()}
	c.seen, _ = c.stamps()
	if err := c.read(); err != nil {
		return nil, err
	}
	return c, nil
}

// Config is the configuration of a server with the certificate.
func (c *Certificate) Config() *tls.Config {
	return &tls.Config{MinVersion: tls.VersionTLS12, GetCertificate: c.get}
}

func (c *Certificate) get(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := c.now()
	if now.Sub(c.looked) < lookAtMost {
		return c.pair, nil
	}
	c.looked = now
	switch seen, err := c.stamps(); {
	case err != nil:
		c.broken(c.fault(err))
	case seen != c.seen:
		// The files are written one after the other: a pair that does not fit is read
		// again when the second one has changed.
		c.seen = seen
		if err := c.read(); err != nil {
			c.broken(err)
		}
	}
	return c.pair, nil
}

func (c *Certificate) stamps() (stamps [2]stamp, err error) {
	for i, path := range []string{c.cert, c.key} {
		info, err := os.Stat(path)
		if err != nil {
			return stamps, err
		}
		stamps[i] = stamp{modified: info.ModTime(), size: info.Size()}
	}
	return stamps, nil
}

func (c *Certificate) read() error {
	pair, err := tls.LoadX509KeyPair(c.cert, c.key)
	if err != nil {
		return c.fault(err)
	}
	c.pair = &pair
	return nil
}

func (c *Certificate) fault(err error) error {
	return fault.New(fault.InvalidArgument, "the certificate %s with the key %s cannot be used: %w", c.cert, c.key, err).
		WithHint("both files have to be PEM, and the key has to be that of the certificate")
}
