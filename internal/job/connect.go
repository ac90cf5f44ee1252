package job

import (
	"cmp"
	"errors"
	"fmt"
	"net"
	"strconv"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// How a connection to NATS is kept.
const (
	dialTime     = 2 * time.Second
	redialEvery  = 250 * time.Millisecond
	pingEvery    = 5 * time.Second
	defaultPort  = 4222
	unansweredOK = 1 // pings, before the connection is given up
)

// NATS keeps records in a bucket of NATS JetStream. It connects beside
// everything else, and again whenever the connection is lost.
type NATS struct {
	name    string // without secrets
	keep    time.Duration
	dialled chan struct{} // closed once conn is set, or never will be
	conn    *nats.Conn

	mu   sync.Mutex
	kv   jetstream.KeyValue
	err  error // why there is no connection at all
	last error // why it is not connected at the moment
}

// Dialer connects to where NATS is, if not by its URL.
type Dialer interface {
	Dial(network, address string) (net.Conn, error)
}

// OpenNATS begins to connect. A dialer is used in place of the network.
func OpenNATS(c NATSConfig, keep time.Duration, dialer Dialer) *NATS {
	n := &NATS{name: c.address(), keep: keep, dialled: make(chan struct{})}
	go func() {
		defer close(n.dialled)
		conn, err := nats.Connect(n.name, n.options(c, dialer)...)
		if err != nil {
			n.err = err
			return
		}
		n.conn = conn
	}()
	return n
}

// Close ends the connection, when there is one.
func (n *NATS) Close() {
	go func() {
		<-n.dialled
		if n.conn != nil {
			n.conn.Close()
		}
	}()
}

// address is the URL. A Service's is the name that it has in the cluster, so
// that a certificate is checked against that.
func (c NATSConfig) address() string {
	if c.Service.Name == "" {
		return c.URL
	}
	port := strconv.Itoa(cmp.Or(c.Service.Port, defaultPort))
	return "nats://" + net.JoinHostPort(fmt.Sprintf("%s.%s.svc", c.Service.Name, c.Service.Namespace), port)
}

func (n *NATS) options(c NATSConfig, dialer Dialer) []nats.Option {
	options := []nats.Option{
		nats.Name("berth"),
		nats.Timeout(dialTime),
		nats.RetryOnFailedConnect(true),
		nats.MaxReconnects(-1),
		nats.ReconnectWait(redialEvery),
		nats.ReconnectJitter(redialEvery/5, redialEvery/5),
		nats.IgnoreAuthErrorAbort(),
		// What cannot be sent now is sent again by the recorder, in its newest state.
		nats.ReconnectBufSize(-1),
		nats.PingInterval(pingEvery),
		nats.MaxPingsOutstanding(unansweredOK),
		nats.DisconnectErrHandler(func(_ *nats.Conn, err error) { n.note(err) }),
		nats.ReconnectErrHandler(func(_ *nats.Conn, err error) { n.note(err) }),
		nats.ErrorHandler(func(_ *nats.Conn, _ *nats.Subscription, err error) { n.noteAuth(err) }),
		nats.ConnectHandler(func(*nats.Conn) { n.note(nil) }),
		nats.ReconnectHandler(func(*nats.Conn) { n.note(nil) }),
	}
	switch {
	case c.User != "":
		options = append(options, nats.UserInfo(c.User, c.Password.Reveal()))
	case c.Token != "":
		options = append(options, nats.Token(c.Token.Reveal()))
	case c.Credentials != "":
		options = append(options, nats.UserCredentials(c.Credentials))
	}
	if c.TLS.CA != "" {
		options = append(options, nats.RootCAs(c.TLS.CA))
	}
	if c.TLS.Cert != "" {
		options = append(options, nats.ClientCert(c.TLS.Cert, c.TLS.Key))
	}
	if dialer != nil {
		// Names and addresses of the cluster mean nothing here.
		options = append(options, nats.SetCustomDialer(dialer), nats.SkipHostLookup(), nats.IgnoreDiscoveredServers())
	}
	return options
}

func (n *NATS) note(err error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if err == nil || !errors.Is(n.last, nats.ErrAuthorization) || errors.Is(err, nats.ErrAuthorization) {
		n.last = err
	}
}

// noteAuth keeps a refusal: the server closes the connection right after it,
// and that alone would say nothing.
func (n *NATS) noteAuth(err error) {
	if errors.Is(err, nats.ErrAuthorization) || errors.Is(err, nats.ErrAuthExpired) || errors.Is(err, nats.ErrAuthRevoked) {
		n.note(err)
	}
}

func (n *NATS) lastError() error {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.last
}
