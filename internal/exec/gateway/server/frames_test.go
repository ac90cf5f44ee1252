package server

import (
	"bufio"
	"context"
	"crypto/tls"
	"encoding/binary"
	"io"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/streaming/pkg/httpstream/spdy"

	"github.com/berthdev/berth/internal/exec"
	"github.com/berthdev/berth/internal/exec/gateway"
	"github.com/berthdev/berth/internal/waittest"
)

// deaf reads nothing of what is typed.
func deaf(context.Context, Object, Options) (exec.Runner, error) {
	return func(ctx context.Context, _ []string, _ exec.Session) (int, error) {
		<-ctx.Done()
		return 0, context.Cause(ctx)
	}, nil
}

// upgrade is a connection to alice's workspace whose protocol is another one.
func (r *rig) upgrade(headers string) (net.Conn, *bufio.Reader) {
	r.Helper()
	conn, err := tls.Dial("tcp", r.public.Listener.Addr().String(),
		&tls.Config{InsecureSkipVerify: true}) //nolint:gosec // a test
	if err != nil {
		r.Fatal(err)
	}
	r.Cleanup(func() { _ = conn.Close() })
	_ = conn.SetDeadline(time.Now().Add(time.Minute))
	_, _ = io.WriteString(conn, "GET "+gateway.WorkspacePath("dev", "alice")+
		"?stdin=true&stdout=true HTTP/1.1\r\nHost: berth.example\r\nConnection: Upgrade\r\n"+
		"Authorization: Bearer alice\r\n"+
		headers+"\r\n")
	from := bufio.NewReader(conn)
	response, err := http.ReadResponse(from, nil) //nolint:bodyclose // it has none
	if err != nil {
		r.Fatal(err)
	}
	if response.StatusCode != http.StatusSwitchingProtocols {
		r.Fatalf("the answer is %s", response.Status)
	}
	return conn, from
}

const (
	asWebSocket = "Upgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n" +
		"Sec-WebSocket-Protocol: v5.channel.k8s.io\r\n"
	asSPDY = "Upgrade: SPDY/3.1\r\nX-Stream-Protocol-Version: v4.channel.k8s.io\r\n"
)

// A client that sends frames that are far too long is cut off, and told why.
func TestLongFrames(t *testing.T) {
	r := start(t, deaf, nil)
	const tooLong = 8 << 20
	t.Run("WebSocket", func(t *testing.T) {
		conn, from := r.upgrade(asWebSocket)
		header := binary.BigEndian.AppendUint64([]byte{0x82, 0x80 | 127}, tooLong)
		go func() { _, _ = conn.Write(append(header, make([]byte, 4+tooLong)...)) }()
		if said, err := io.ReadAll(from); !strings.Contains(string(said), "a frame was longer than 256 KiB") {
			t.Errorf("it says %q, %v", said, err)
		}
	})
	t.Run("SPDY", func(t *testing.T) {
		conn, _ := r.upgrade(asSPDY)
		client, err := spdy.NewClientConnection(conn) // which speaks first
		if err != nil {
			t.Fatal(err)
		}
		streams := map[string]io.ReadWriter{}
		for _, name := range []string{"error", "stdin", "stdout"} {
			if streams[name], err = client.CreateStream(http.Header{"Streamtype": {name}}); err != nil {
				t.Fatal(err)
			}
		}
		go func() { _, _ = streams["stdin"].Write(make([]byte, tooLong)) }()
		if said, err := io.ReadAll(streams["error"]); !strings.Contains(string(said),
			"a frame was longer than 64 KiB") {
			t.Errorf("it says %q, %v", said, err)
		}
	})
	waittest.Until(t, "both sessions have ended", func() bool { return len(r.sessions.list()) == 0 })
}

// endless are frames of SPDY with 32 KiB of data each.
type endless struct {
	frame []byte
	ended atomic.Bool
}

func (e *endless) Read(p []byte) (int, error) {
	if e.ended.Load() {
		return 0, io.EOF
	}
	if len(e.frame) == 0 {
		e.frame = append([]byte{0, 0, 0, 1, 0, 0, 0x80, 0}, make([]byte, 32<<10)...)
	}
	n := copy(p, e.frame)
	e.frame = e.frame[n:]
	return n, nil
}

// No more is read than is used up, but for what may wait.
func TestUnread(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, _ := http.NewRequestWithContext(t.Context(), http.MethodGet, "/", http.NoBody)
		f := framesOf(r, func(err error) { t.Error(err) })
		from := &endless{}
		f.from = from
		var total atomic.Int64
		go func() {
			buffer := make([]byte, 4<<10)
			for {
				n, err := f.Read(buffer)
				total.Add(int64(n))
				if err != nil {
					return
				}
			}
		}()
		synctest.Wait()
		first := total.Load()
		if first < maxUnread || first > maxUnread+maxFrame {
			t.Errorf("%d bytes are read", first)
		}
		f.use(maxUnread / 2)
		synctest.Wait()
		if more := total.Load() - first; more < maxUnread/4 || more > maxUnread/2+maxFrame {
			t.Errorf("%d more bytes are read after %d were used up", more, maxUnread/2)
		}
		from.ended.Store(true)
		f.close()
	})
}

func TestFrameLengths(t *testing.T) {
	for name, c := range map[string]struct {
		measure func([]byte) (uint64, bool, bool)
		header  []byte
		length  uint64
		data    bool
	}{
		"a short message":        {ofWebSocket, []byte{0x82, 5}, 5, false},
		"a short masked message": {ofWebSocket, []byte{0x82, 0x85, 1, 2, 3, 4}, 5, false},
		"a message with 16 bits": {ofWebSocket, []byte{0x82, 0xfe, 1, 2, 9, 9, 9, 9}, 0x102, false},
		"a message with 64 bits": {
			ofWebSocket,
			[]byte{0x82, 0xff, 0, 0, 0, 0, 1, 2, 3, 4, 9, 9, 9, 9},
			0x1020304,
			false,
		},
		"a message without a mask": {ofWebSocket, []byte{0x82, 127, 0xff, 0, 0, 0, 0, 0, 0, 0}, 0xff << 56, false},
		"data of SPDY":             {ofSPDY, []byte{0, 0, 0, 1, 1, 1, 2, 3}, 0x10203, true},
		"control of SPDY":          {ofSPDY, []byte{0x80, 3, 0, 1, 1, 0, 0, 9}, 9, false},
	} {
		for n := range c.header {
			if _, _, whole := c.measure(c.header[:n]); whole {
				t.Errorf("%s: whole after %d bytes", name, n)
			}
		}
		if length, data, whole := c.measure(c.header); length != c.length || data != c.data || !whole {
			t.Errorf("%s: %d, %t, %t", name, length, data, whole)
		}
	}
}
