package server

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"sync"
	"time"
)

// The sizes of a copy's buffers: what is typed fits into the small one; a large one is borrowed while more comes.
const (
	smallBuffer = 1 << 10
	largeBuffer = 32 << 10
)

// buffers are the large ones.
type buffers struct{ pool sync.Pool }

func (b *buffers) get() *[largeBuffer]byte {
	if found, ok := b.pool.Get().(*[largeBuffer]byte); ok {
		return found
	}
	return new([largeBuffer]byte)
}

// copy is io.Copy. A session that is idle has one small buffer for each direction.
func (b *buffers) copy(to io.Writer, from io.Reader) (total int64, err error) {
	small := make([]byte, smallBuffer)
	for {
		n, err := pass(to, from, small)
		total += n
		if err != nil {
			return total, ended(err)
		}
		if n < smallBuffer {
			continue
		}
		n, err = b.burst(to, from)
		total += n
		if err != nil {
			return total, ended(err)
		}
	}
}

// burst copies until a read does not fill half of a large buffer.
func (b *buffers) burst(to io.Writer, from io.Reader) (total int64, err error) {
	large := b.get()
	defer b.pool.Put(large)
	for {
		n, err := pass(to, from, large[:])
		total += n
		if err != nil || n < smallBuffer {
			return total, err
		}
	}
}

func pass(to io.Writer, from io.Reader, buffer []byte) (int64, error) {
	n, err := from.Read(buffer)
	if n > 0 {
		if _, err := to.Write(buffer[:n]); err != nil {
			return int64(n), err
		}
	}
	return int64(n), err
}

func ended(err error) error {
	if err == io.EOF { //nolint:errorlint // readers return it as it is
		return nil
	}
	return err
}

// hijacked hands out the connection of a request as one that can be ended, and copies with small buffers.
type hijacked struct {
	http.ResponseWriter
	buffers *buffers
	gone    func()  // called when the other end is gone; may be nil
	lingers bool    // Close only says that nothing more comes
	frames  *frames // what the other end sends; nil if it need not be looked at

	mu    sync.Mutex
	conn  *conn
	ended bool
}

func (h *hijacked) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	raw, buffered, err := http.NewResponseController(h.ResponseWriter).Hijack()
	if err != nil {
		return nil, nil, err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.conn = &conn{Conn: raw, buffers: h.buffers, gone: h.gone, lingers: h.lingers}
	if h.ended {
		h.conn.finish(0)
	}
	if h.frames != nil {
		h.frames.begin(h.conn, buffered.Reader)
	}
	return h.conn, buffered, nil
}

// is asks about the connection; false if there is none yet.
func (h *hijacked) is(what func(net.Conn) bool) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.conn != nil && what(h.conn.Conn)
}

// finish bounds how long anything on the connection can still take.
func (h *hijacked) finish(within time.Duration) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.ended = true
	if h.conn != nil {
		h.conn.finish(within)
	}
}

// close ends the connection for good. What is still on its way to here is read, within a
// bound: a connection that is closed before would throw away what is on its way back.
func (h *hijacked) close(within time.Duration) {
	h.mu.Lock()
	conn := h.conn
	h.mu.Unlock()
	if conn == nil {
		return
	}
	if h.frames != nil {
		h.frames.close()
	}
	_ = conn.CloseWrite()
	conn.finish(within)
	_, _ = h.buffers.copy(io.Discard, conn.Conn)
	_ = conn.Conn.Close()
}

// conn is a connection that says when its other end is gone, and can be told to come to an
// end, whatever deadlines are set after that.
type conn struct {
	net.Conn
	buffers *buffers
	gone    func()
	lingers bool

	mu        sync.Mutex
	finishing bool
}

func (c *conn) Close() error {
	if c.lingers {
		if c.gone != nil {
			c.gone() // a client may say that it goes, and nobody reads any more after that
		}
		_ = c.CloseWrite() // spdystream keeps a goroutine for ten minutes with an error
		return nil
	}
	return c.Conn.Close()
}

func (c *conn) finish(within time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.finishing = true
	_ = c.Conn.SetDeadline(time.Now().Add(within))
}

func (c *conn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	if err != nil && c.gone != nil {
		c.gone()
	}
	return n, err
}

func (c *conn) SetDeadline(t time.Time) error {
	return c.unlessFinishing(func() error { return c.Conn.SetDeadline(t) })
}

func (c *conn) SetReadDeadline(t time.Time) error {
	return c.unlessFinishing(func() error { return c.Conn.SetReadDeadline(t) })
}

func (c *conn) SetWriteDeadline(t time.Time) error {
	return c.unlessFinishing(func() error { return c.Conn.SetWriteDeadline(t) })
}

func (c *conn) unlessFinishing(set func() error) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.finishing {
		return nil
	}
	return set()
}

func (c *conn) WriteTo(w io.Writer) (int64, error) { return c.buffers.copy(w, c) }

func (c *conn) ReadFrom(r io.Reader) (int64, error) { return c.buffers.copy(c.Conn, r) }

// CloseWrite tells the other end that nothing more comes. A client then has a moment to close its own.
func (c *conn) CloseWrite() error {
	if !c.lingers {
		_ = c.SetReadDeadline(time.Now().Add(lingering))
	}
	if half, ok := c.Conn.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return c.Conn.Close()
}
