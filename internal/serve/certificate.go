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

// Certificate is a certificate and its key in files, which are read again when they change.
type Certificate struct{ pair watched[*tls.Certificate] }

// NewCertificate reads a certificate. Broken is called with the error of files that have changed and cannot be used;
// until they can be, the certificate before them stays.
func NewCertificate(cert, key string, now func() time.Time, broken func(error)) (*Certificate, error) {
	c := &Certificate{watched[*tls.Certificate]{
		files: []string{cert, key}, now: now, broken: broken,
		parse: func() (*tls.Certificate, error) {
			pair, err := tls.LoadX509KeyPair(cert, key)
			return &pair, err
		},
		fault: func(err error) error {
			return fault.New(fault.InvalidArgument, "the certificate %s with the key %s cannot be used: %w", cert, key,
				err).
				WithHint("both files have to be PEM, and the key has to be that of the certificate")
		},
	}}
	if err := c.pair.load(); err != nil {
		return nil, err
	}
	return c, nil
}

// Config is the configuration of a server with the certificate.
func (c *Certificate) Config() *tls.Config {
	return &tls.Config{MinVersion: tls.VersionTLS12, GetCertificate: c.get}
}

func (c *Certificate) get(*tls.ClientHelloInfo) (*tls.Certificate, error) { return c.pair.get(), nil }

// FlagClientCA is the flag of the file of a ClientCA.
const FlagClientCA = "client-ca"

// ClientCA are the authorities whose certificates say who a client is, as API servers and kubelets have them: the
// common name is the user, the organizations are the groups. The file is read again when it changes.
type ClientCA struct{ pool watched[*x509.CertPool] }

// NewClientCA reads the certificates of authorities. Broken is called with the error of a file that has changed and
// cannot be used; until it can be, those before it stay.
func NewClientCA(file string, now func() time.Time, broken func(error)) (*ClientCA, error) {
	c := &ClientCA{watched[*x509.CertPool]{
		files: []string{file}, now: now, broken: broken,
		parse: func() (*x509.CertPool, error) {
			if _, err := os.Stat(file); err != nil {
				return nil, err
			}
			text, err := os.ReadFile(file)
			if err != nil {
				return nil, err
			}
			pool := x509.NewCertPool()
			if !pool.AppendCertsFromPEM(text) {
				return nil, fault.New(fault.InvalidArgument, "it has no certificate")
			}
			return pool, nil
		},
		fault: func(err error) error {
			return fault.New(fault.InvalidArgument, "the authorities of clients in %s cannot be used: %w", file, err).
				WithHint("the file has to have certificates in PEM")
		},
	}}
	if err := c.pool.load(); err != nil {
		return nil, err
	}
	return c, nil
}

// User is who a client is by the certificate of its connection. Presented is false if it has no
// certificate, or if the server asks for none.
func (c *ClientCA) User(state *tls.ConnectionState) (user User, presented, valid bool) {
	if c == nil || state == nil || len(state.PeerCertificates) == 0 {
		return User{}, false, false
	}
	leaf, between := state.PeerCertificates[0], x509.NewCertPool()
	for _, certificate := range state.PeerCertificates[1:] {
		between.AddCert(certificate)
	}
	_, err := leaf.Verify(x509.VerifyOptions{
		Roots: c.pool.get(), Intermediates: between, CurrentTime: c.pool.now(),
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

// watched is what some files say, which are read again when they change. Whether they have is seen by their size and
// time when it is used, at most once a second: that needs no goroutine, and cannot miss how the kubelet changes the
// files of a Secret, by a link to another directory.
type watched[T any] struct {
	files  []string
	parse  func() (T, error)
	fault  func(error) error // what is said of an error
	now    func() time.Time
	broken func(error) // told when a changed file cannot be used

	mu     sync.Mutex
	looked time.Time
	seen   []stamp
	value  T
}

// stamp tells two states of a file apart.
type stamp struct {
	modified time.Time
	size     int64
}

const lookAtMost = time.Second

// load reads the files for the first time.
func (w *watched[T]) load() error {
	w.looked = w.now()
	w.seen, _ = w.stamps() // parse reports a file that is missing
	return w.read()
}

func (w *watched[T]) get() T {
	w.mu.Lock()
	defer w.mu.Unlock()
	now := w.now()
	if now.Sub(w.looked) < lookAtMost {
		return w.value
	}
	w.looked = now
	switch seen, err := w.stamps(); {
	case err != nil:
		w.broken(w.fault(err))
	case !slices.Equal(seen, w.seen):
		// Several files are written one after the other: a pair that does not fit is read again when the second one has
		// changed.
		w.seen = seen
		if err := w.read(); err != nil {
			w.broken(err)
		}
	}
	return w.value
}

func (w *watched[T]) stamps() (stamps []stamp, err error) {
	for _, path := range w.files {
		info, err := os.Stat(path)
		if err != nil {
			return nil, err
		}
		stamps = append(stamps, stamp{modified: info.ModTime(), size: info.Size()})
	}
	return stamps, nil
}

func (w *watched[T]) read() error {
	value, err := w.parse()
	if err != nil {
		return w.fault(err)
	}
	w.value = value
	return nil
}
