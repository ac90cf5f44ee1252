package sshd

import (
	"context"
	"errors"
	"io"
	"net"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"golang.org/x/crypto/ssh"
)

// tcp connects a channel with a host and a port: with the place itself, or through it.
func (c *connection) tcp(ctx context.Context, offered ssh.NewChannel) {
	r, err := parse[tcpRequest](offered.ExtraData())
	if err != nil || r.Port == 0 || r.Port > 1<<16-1 {
		_ = offered.Reject(ssh.ConnectionFailed, "the request names no port")
		return
	}
	c.connect(ctx, offered, net.JoinHostPort(r.Host, strconv.Itoa(int(r.Port))),
		func(p Place) (io.ReadWriteCloser, error) {
			if isItself(r.Host, p.Names) {
				return p.Dial(ctx, uint16(r.Port)) //nolint:gosec // checked above
			}
			return p.Relay(ctx, net.JoinHostPort(r.Host, strconv.Itoa(int(r.Port))), false)
		})
}

// unix connects a channel with a socket in the place.
func (c *connection) unix(ctx context.Context, offered ssh.NewChannel) {
	r, err := parse[socketRequest](offered.ExtraData())
	if err != nil || r.Path == "" || strings.ContainsRune(r.Path, 0) {
		_ = offered.Reject(ssh.ConnectionFailed, "the request names no socket")
		return
	}
	c.connect(ctx, offered, r.Path, func(p Place) (io.ReadWriteCloser, error) { return p.Relay(ctx, r.Path, true) })
}

// connect joins a channel with what is dialled, or refuses it with the reason.
func (c *connection) connect(ctx context.Context, offered ssh.NewChannel, to string,
	dial func(Place) (io.ReadWriteCloser, error),
) {
	p, err := c.Find(ctx, c.user, func(string) {}) // a channel that is not open yet can tell nothing
	var there io.ReadWriteCloser
	if err == nil {
		there, err = dial(p)
	}
	if err != nil {
		text, _ := c.Explain(err) // clients show one line
		_ = offered.Reject(ssh.ConnectionFailed, strings.ReplaceAll(strings.TrimSpace(text), "\n", ", "))
		return
	}
	channel, requests, err := offered.Accept()
	if err != nil {
		_ = there.Close()
		return
	}
	gone := make(chan struct{})
	go func() {
		defer close(gone)
		ssh.DiscardRequests(requests) // until the client has closed the channel, and not only its own way
		_ = there.Close()
	}()
	defer context.AfterFunc(ctx, func() { _ = there.Close() })()
	// That it failed is seen only after it was accepted. It is said before the channel ends, as a client that has no
	// other, such as ssh -W, ends this process then.
	join(channel, &telling{ReadWriteCloser: there, gone: gone, tell: func(err error) {
		if !isEnd(err) && ctx.Err() == nil && c.Say != nil {
			c.Say(printable(to + ": " + err.Error()))
		}
	}})
	<-gone
}

// isEnd is true for what ends any connection.
func isEnd(err error) bool {
	return err == nil || errors.Is(err, io.EOF) || errors.Is(err, io.ErrClosedPipe) || errors.Is(err, net.ErrClosed) ||
		errors.Is(err, context.Canceled)
}

// printable is one line of a text from elsewhere.
func printable(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, text)
}

// telling tells the error with which what comes has ended, unless the client has closed the channel before.
type telling struct {
	io.ReadWriteCloser
	gone <-chan struct{}
	tell func(error)
}

// Read implements io.Reader.
func (t *telling) Read(p []byte) (int, error) {
	n, err := t.ReadWriteCloser.Read(p)
	if err != nil {
		select {
		case <-t.gone:
		default:
			t.tell(err)
		}
	}
	return n, err
}

// CloseWrite ends what is sent, if that is possible alone.
func (t *telling) CloseWrite() error {
	if half, ok := t.ReadWriteCloser.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return t.Close()
}

// join copies both ways until both have ended; the end of one way is passed on.
func join(channel ssh.Channel, there io.ReadWriteCloser) {
	defer there.Close()
	defer func() { _ = channel.Close() }()
	sent := make(chan struct{})
	go func() {
		defer close(sent)
		_, _ = io.Copy(there, channel)
		if half, ok := there.(interface{ CloseWrite() error }); ok {
			_ = half.CloseWrite()
		} else {
			_ = there.Close()
		}
	}()
	_, _ = io.Copy(channel, there)
	_ = channel.CloseWrite()
	_ = channel.Close()
	_ = there.Close() // it may not read what it is sent
	<-sent
}

// isItself is true for a host that means the place itself.
func isItself(host string, names []string) bool {
	ip, err := netip.ParseAddr(strings.Trim(host, "[]"))
	if err == nil && (ip.Unmap().IsLoopback() || ip.IsUnspecified()) {
		return true
	}
	host = strings.ToLower(strings.TrimSuffix(host, "."))
	return host == "localhost" || host == "" || slices.Contains(names, host)
}
