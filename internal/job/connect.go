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

	"github.com/berthdev/berth/internal/fault"
)

// How a connection to NATS is kept.
const (
	dialTime     = 2 * time.Second
	redialFirst  = 250 * time.Millisecond
	redialMost   = time.Second
	pingEvery    = 5 * time.Second
	defaultPort  = 4222
	unansweredOK = 1 // pings, before the connection is given up
)

// NATS keeps records in a bucket of NATS JetStream. It connects beside
// everything else, and again whenever the connection is lost.
type NATS struct {
	config  NATSConfig
	name    string // without secrets
	keep    time.Duration
	dialled chan struct{} // closed once conn is set, or never will be
	told    chan struct{} // closed once it is known how the first attempt ended
	conn    *nats.Conn
	err     error // why there is none, and never will be

	mu     sync.Mutex
	kv     jetstream.KeyValue
	last   error // why it is not connected at the moment
	denied error // what the user of NATS was not allowed last
}

// Dialer connects to where NATS is, if not by its URL.
type Dialer interface {
	Dial(network, address string) (net.Conn, error)
}

// OpenNATS begins to connect. A dialer is used in place of the network.
func OpenNATS(c NATSConfig, keep time.Duration, dialer Dialer) *NATS {
	n := &NATS{config: c, name: c.address(), keep: keep, dialled: make(chan struct{}), told: make(chan struct{})}
	go func() {
		defer close(n.dialled)
		n.conn, n.err = n.connect(c, dialer)
	}()
	return n
}

// connect fails only where trying again would not help: the rest is up to the
// connection, which is made again until it is closed.
func (n *NATS) connect(c NATSConfig, dialer Dialer) (*nats.Conn, error) {
	login, err := c.login()
	if err != nil {
		return nil, err
	}
	conn, err := nats.Connect(n.name, append(n.options(dialer), login...)...)
	if err != nil {
		return nil, fault.New(fault.InvalidArgument, "NATS at %s cannot be reached with this configuration (jobs.nats): %w", n.name, err)
	}
	return conn, nil
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

func (n *NATS) options(dialer Dialer) []nats.Option {
	options := []nats.Option{
		nats.Name("berth"),
		nats.Timeout(dialTime),
		nats.RetryOnFailedConnect(true),
		nats.MaxReconnects(-1),
		nats.CustomReconnectDelay(redialAfter),
		nats.IgnoreAuthErrorAbort(),
		// What cannot be sent now is sent again by the recorder, in its newest state.
		nats.ReconnectBufSize(-1),
		nats.PingInterval(pingEvery),
		nats.MaxPingsOutstanding(unansweredOK),
		nats.DisconnectErrHandler(func(_ *nats.Conn, err error) { n.note(err) }),
		nats.ReconnectErrHandler(func(_ *nats.Conn, err error) { n.note(err) }),
		nats.ErrorHandler(func(_ *nats.Conn, _ *nats.Subscription, err error) { n.noteRefusal(err) }),
		nats.ConnectHandler(func(*nats.Conn) { n.note(nil) }),
		nats.ReconnectHandler(func(*nats.Conn) { n.note(nil) }),
	}
	if dialer != nil {
		// Names and addresses of the cluster mean nothing here.
		options = append(options, nats.SetCustomDialer(dialer), nats.SkipHostLookup(), nats.IgnoreDiscoveredServers())
	}
	return options
}

// redialAfter is soon at first and less often later: a server that refuses the
// login is not to be asked four times a second for as long as a command takes.
func redialAfter(attempts int) time.Duration {
	return min(time.Duration(attempts)*redialFirst, redialMost)
}

// note keeps why there is no connection; nil where there is one. A refusal is
// not forgotten for a connection that is only lost: the server closes it right
// after the refusal, and that alone would say nothing.
func (n *NATS) note(err error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if err == nil {
		n.last, n.denied = nil, nil
	} else if n.last == nil || isRefusal(err) || !isRefusal(n.last) {
		n.last = err
	}
	select {
	case <-n.told:
	default:
		close(n.told)
	}
}

// noteRefusal keeps what is told of an open connection.
func (n *NATS) noteRefusal(err error) {
	if errors.Is(err, nats.ErrPermissionViolation) {
		n.mu.Lock()
		defer n.mu.Unlock()
		n.denied = err
		return
	}
	if isRefusal(err) {
		n.note(err)
	}
}

// reasons are why it is not connected, and what was not allowed last.
func (n *NATS) reasons() (last, denied error) {
	select {
	case <-n.dialled:
		// A refusal at a later attempt is told to none of the handlers.
		if n.conn != nil && !n.conn.IsConnected() && isRefusal(n.conn.LastError()) {
			n.note(n.conn.LastError())
		}
	default:
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.last, n.denied
}
