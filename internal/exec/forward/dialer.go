package forward

import (
	"context"
	"errors"
	"io"
	"sync"

	"k8s.io/streaming/pkg/httpstream"
)

// Dialer connects with ports of one pod. Each port has a connection with the pod of its own, which is made when it is
// needed: what goes wrong with one port, such as that nothing listens there, is not felt by the others.
type Dialer struct {
	Connect func(ctx context.Context) (httpstream.Connection, error)

	mu    sync.Mutex
	ports map[uint16]*portLink
}

// portLink is the connection of one port; the lock is held while it is made.
type portLink struct {
	mu  sync.Mutex
	now *link
}

// maxLinks is how many connections with the pod are kept that are not used, as somebody may try all ports.
const maxLinks = 16

// Dial connects with a port. That nothing listens there is seen only when the connection is read from.
func (d *Dialer) Dial(ctx context.Context, port uint16) (io.ReadWriteCloser, error) {
	at := d.at(port)
	l, fresh, err := at.link(ctx, d.Connect)
	if err != nil {
		return nil, err
	}
	s, err := l.open(port)
	if err != nil && (!fresh || l.isRetired()) { // it may have been lost since it was used
		l.broken(err)
		if l, _, err = at.link(ctx, d.Connect); err == nil {
			s, err = l.open(port)
		}
	}
	if err != nil {
		return nil, err
	}
	return &portConn{streams: s}, nil
}

// at is the place of a port; others that are not used make room for it.
func (d *Dialer) at(port uint16) *portLink {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.ports == nil {
		d.ports = map[uint16]*portLink{}
	}
	if d.ports[port] == nil {
		d.makeRoom()
		d.ports[port] = &portLink{}
	}
	return d.ports[port]
}

// makeRoom closes connections that are not used, if there are many.
func (d *Dialer) makeRoom() {
	for port, at := range d.ports {
		if len(d.ports) < maxLinks {
			return
		}
		if at.mu.TryLock() { // otherwise it is being made
			if at.now != nil && at.now.isIdle() {
				at.now.retire()
				delete(d.ports, port)
			}
			at.mu.Unlock()
		}
	}
}

// link is the connection with the pod.
func (p *portLink) link(ctx context.Context, connect func(context.Context) (httpstream.Connection, error)) (l *link,
	fresh bool, err error,
) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.now != nil && !p.now.isRetired() {
		select {
		case <-p.now.conn.CloseChan():
		default:
			return p.now, false, nil
		}
	}
	conn, err := connect(ctx)
	if err != nil {
		return nil, false, err
	}
	p.now = newLink(Endpoint{}, conn)
	return p.now, true, nil
}

// portConn is a connection with a port.
type portConn struct {
	*streams
	once sync.Once
}

func (c *portConn) Write(p []byte) (int, error) { return c.data.Write(p) }

// Read reads what the pod sends; why that has refused the connection is the error at its end.
func (c *portConn) Read(p []byte) (int, error) {
	n, err := c.data.Read(p)
	if errors.Is(err, io.EOF) {
		if why := c.refusal(); why != "" {
			return n, errors.New(why)
		}
	}
	return n, err
}

// CloseWrite ends what is sent.
func (c *portConn) CloseWrite() error { return c.data.Close() }

// Close ends both ways.
func (c *portConn) Close() error {
	c.once.Do(func() {
		_ = c.data.Reset()
		_ = c.failures.Reset()
		c.link.conn.RemoveStreams(c.data, c.failures)
		c.link.leave()
	})
	return nil
}
