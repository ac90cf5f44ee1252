package forward

import (
	"context"
	"errors"
	"io"
	"sync"

	"k8s.io/streaming/pkg/httpstream"
)

// Dialer connects with ports of one pod, over one connection with it, which is made when it is needed.
type Dialer struct {
	Connect func(ctx context.Context) (httpstream.Connection, error)

	connecting sync.Mutex
	now        *link
}

// Dial connects with a port. That nothing listens there is seen only when the connection is read from.
func (d *Dialer) Dial(ctx context.Context, port uint16) (io.ReadWriteCloser, error) {
	l, fresh, err := d.link(ctx)
	if err != nil {
		return nil, err
	}
	s, err := l.open(port)
	if err != nil && !fresh { // it may have been lost since it was used
		l.broken(err)
		if l, _, err = d.link(ctx); err == nil {
			s, err = l.open(port)
		}
	}
	if err != nil {
		return nil, err
	}
	return &portConn{streams: s}, nil
}

// link is the connection with the pod.
func (d *Dialer) link(ctx context.Context) (l *link, fresh bool, err error) {
	d.connecting.Lock()
	defer d.connecting.Unlock()
	if d.now != nil {
		select {
		case <-d.now.conn.CloseChan():
		default:
			return d.now, false, nil
		}
	}
	conn, err := d.Connect(ctx)
	if err != nil {
		return nil, false, err
	}
	d.now = &link{conn: conn}
	return d.now, true, nil
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
	})
	return nil
}
