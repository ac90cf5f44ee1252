package forward

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/streaming/pkg/httpstream"
)

// link is a connection with a pod, on which each connection of a port has two streams.
type link struct {
	target  Endpoint
	conn    httpstream.Connection
	retired chan struct{} // closed when there are to be no more connections on it

	mu      sync.Mutex
	request int
	users   int    // connections of ports
	why     string // it is broken
}

func newLink(target Endpoint, conn httpstream.Connection) *link {
	return &link{target: target, conn: conn, retired: make(chan struct{})}
}

// retire lets no more connections begin on the link, and closes it with the last of those that there are. A port that
// was refused is a reason: the runtime does not read what was sent to it, and one of the five workers that serve the
// streams at the other end (k8s.io/kubelet, moby/spdystream) waits for that, half a minute, with the streams of others.
func (l *link) retire() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.isRetired() {
		close(l.retired)
		l.closeIfIdle()
	}
}

func (l *link) isRetired() bool {
	select {
	case <-l.retired:
		return true
	default:
		return false
	}
}

// closeIfIdle closes a link that is not wanted any more; the lock is held.
func (l *link) closeIfIdle() {
	if l.users == 0 && l.isRetired() {
		_ = l.conn.Close()
	}
}

// leave is the end of one connection.
func (l *link) leave() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.users--
	l.closeIfIdle()
}

// isIdle is true for a link without connections.
func (l *link) isIdle() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.users == 0
}

// end waits for the end of the link, and says why it came. That of one that is retired is not waited for.
func (l *link) end(ctx context.Context, gone func(context.Context, Endpoint) string) string {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	went := make(chan string, 1)
	go func() { went <- gone(ctx, l.target) }()
	select {
	case why := <-went:
		return why
	case <-l.conn.CloseChan():
		l.mu.Lock()
		defer l.mu.Unlock()
		if l.why != "" {
			return l.why
		}
		return "the connection was closed"
	case <-l.retired:
		return ""
	case <-ctx.Done():
		return ""
	}
}

// broken ends the link for a reason.
func (l *link) broken(err error) {
	l.mu.Lock()
	l.why = err.Error()
	l.mu.Unlock()
	_ = l.conn.Close()
}

// streams are the two of one connection: the data, and what goes wrong at the pod.
type streams struct {
	link           *link
	data, failures httpstream.Stream
}

// open opens the streams of one connection with a port of the pod.
func (l *link) open(port uint16) (s *streams, err error) {
	l.mu.Lock()
	l.request++
	l.users++
	id := strconv.Itoa(l.request)
	l.mu.Unlock()
	defer func() {
		if err != nil {
			l.leave()
		}
	}()
	s = &streams{link: l}
	headers := http.Header{}
	headers.Set(corev1.StreamType, corev1.StreamTypeError)
	headers.Set(corev1.PortHeader, strconv.Itoa(int(port)))
	headers.Set(corev1.PortForwardRequestIDHeader, id)
	if s.failures, err = l.conn.CreateStream(headers); err != nil {
		return nil, fmt.Errorf("cannot open a stream: %w", err)
	}
	_ = s.failures.Close() // it is only read
	headers.Set(corev1.StreamType, corev1.StreamTypeData)
	if s.data, err = l.conn.CreateStream(headers); err != nil {
		l.conn.RemoveStreams(s.failures)
		return nil, fmt.Errorf("cannot open a stream: %w", err)
	}
	return s, nil
}

// maxRefusal is how much is read of what went wrong, in bytes.
const maxRefusal = 4 << 10

// join copies both ways until the pod has ended the connection, and returns what went
// wrong there, if anything did. That is of this connection alone: the pod
// may have reset it, and the others go on. That the pod has gone is seen by itself.
func (s *streams) join(conn net.Conn) (refusal string) {
	defer s.link.leave()
	defer s.link.conn.RemoveStreams(s.data, s.failures)
	refused := make(chan string, 1)
	go func() { refused <- s.refusal() }()
	sent := make(chan struct{})
	go func() {
		defer close(sent)
		_, err := io.Copy(s.data, conn)
		if err != nil {
			_ = s.data.Reset() // the client has gone
			return
		}
		_ = s.data.Close()
	}()
	_, _ = io.Copy(conn, s.data)
	_ = s.data.Reset()
	_ = conn.Close()
	<-sent
	return <-refused
}

// refusal is what went wrong at the pod; it waits for the end of the connection.
func (s *streams) refusal() string {
	text, _ := io.ReadAll(io.LimitReader(s.failures, maxRefusal))
	if len(text) > 0 {
		s.link.retire()
	}
	return plain(strings.TrimSpace(string(text)))
}

// plain is what went wrong, in the words that count: runtimes wrap a port on which nothing listens in the names of
// sandboxes and of namespaces, over three lines.
func plain(refusal string) string {
	const nobody = "connection refused"
	if strings.Contains(strings.ToLower(refusal), nobody) { // CRI-O has socat's words, in upper case
		return nobody
	}
	return refusal
}
