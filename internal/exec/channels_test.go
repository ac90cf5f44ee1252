package exec

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gorilla/websocket"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/remotecommand"
)

// The messages of version 5 of the protocol for remote commands (KEP-4006): the first byte is the channel, 0 to 4 for
// stdin, stdout, stderr, the status and the terminal's size; 255 says that the channel of the next byte has ended.
const (
	succeeded = "\x03" + `{"metadata":{},"status":"Success"}`
	failedBy7 = "\x03" + `{"metadata":{},"status":"Failure","message":"command terminated with exit code 7",` +
		`"reason":"NonZeroExitCode","details":{"causes":[{"reason":"ExitCode","message":"7"}]}}`
	noProgram = "\x03" + `{"metadata":{},"status":"Failure","message":"no program","reason":"InternalError"}`
)

// serving is an API server that speaks that protocol as serve says, and then closes the connection as is usual.
func serving(t *testing.T, serve func(*websocket.Conn)) (Server, *url.URL) {
	t.Helper()
	upgrader := websocket.Upgrader{Subprotocols: []string{"v5.channel.k8s.io"}}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		conn, err := upgrader.Upgrade(w, r, nil)
		if err != nil {
			t.Error(err)
			return
		}
		defer func() { _ = conn.Close() }()
		serve(conn)
		_ = conn.WriteMessage(websocket.CloseMessage, websocket.FormatCloseMessage(websocket.CloseNormalClosure, ""))
	}))
	t.Cleanup(server.Close)
	at, err := url.Parse(server.URL + "/api/v1/namespaces/dev/pods/alice/exec")
	if err != nil {
		t.Fatal(err)
	}
	return Server{Config: &rest.Config{Host: server.URL}}, at
}

// says sends messages.
func says(t *testing.T, conn *websocket.Conn, messages ...string) {
	t.Helper()
	for _, m := range messages {
		if err := conn.WriteMessage(websocket.BinaryMessage, []byte(m)); err != nil {
			t.Error(err)
		}
	}
}

func TestChannels(t *testing.T) {
	for name, c := range map[string]struct {
		sent           []string
		status         int
		stdout, stderr string
		err            string
	}{
		"output":                     {[]string{"\x01a", "\x02b", "\x01c", succeeded}, 0, "ac", "b", ""},
		"a status":                   {[]string{"\x01a", failedBy7}, 7, "a", "", ""},
		"a status in pieces":         {[]string{failedBy7[:20], "\x01a", "\x03" + failedBy7[20:]}, 7, "a", "", ""},
		"no program":                 {[]string{noProgram}, 0, "", "", "no program"},
		"nothing":                    {nil, 0, "", "", "ended without saying how"},
		"messages without a channel": {[]string{"", "\x01", "\x01a", succeeded}, 0, "a", "", ""},
		"channels of nobody": {
			[]string{"\x00x", "\x04x", "\x09x", "\xffx", "\x01a", succeeded},
			0, "a", "",
			"",
		},
		"an unreadable status": {[]string{"\x03{"}, 0, "", "", "its status cannot be read"},
		"an unreadable exit code": {
			[]string{strings.Replace(failedBy7, `"7"`, `"x"`, 1)},
			0, "", "",
			`invalid exit code "x"`,
		},
		"a status without end": {[]string{"\x03" + strings.Repeat("x", 1<<20)}, 0, "", "", "cannot be read"},
	} {
		t.Run(name, func(t *testing.T) {
			server, at := serving(t, func(conn *websocket.Conn) { says(t, conn, c.sent...) })
			var stdout, stderr bytes.Buffer
			status, err := Stream(t.Context(), server, at, Session{Stdout: &stdout, Stderr: &stderr})
			if status != c.status || stdout.String() != c.stdout || stderr.String() != c.stderr {
				t.Errorf("%d, %q, %q", status, stdout.String(), stderr.String())
			}
			if (err == nil) != (c.err == "") || err != nil && !strings.Contains(err.Error(), c.err) || IsLost(err) {
				t.Errorf("%.200v", err)
			}
		})
	}
}

// sizes are those that a terminal has one after the other.
type sizes chan remotecommand.TerminalSize

func (s sizes) Next() *remotecommand.TerminalSize {
	if size, ok := <-s; ok {
		return &size
	}
	return nil
}

// What is typed, its end, and the size of the terminal reach the command, each whole.
func TestChannelsOfInput(t *testing.T) {
	long := strings.Repeat("0123456789", 10_000)
	var input, other bytes.Buffer
	server, at := serving(t, func(conn *websocket.Conn) {
		for ends := false; !ends || other.Len() == 0; {
			_, m, err := conn.ReadMessage()
			switch {
			case err != nil:
				t.Error(err)
				return
			case len(m) == 2 && m[0] == 255 && m[1] == 0:
				ends = true
			case m[0] == 0:
				input.Write(m[1:])
			default:
				other.Write(m)
			}
		}
		says(t, conn, succeeded)
	})
	resized := make(sizes, 1)
	resized <- remotecommand.TerminalSize{Width: 80, Height: 24}
	close(resized)
	if _, err := Stream(t.Context(), server, at, Session{
		Stdin: strings.NewReader(long), Stdout: io.Discard, TTY: true, Sizes: resized,
	}); err != nil {
		t.Fatal(err)
	}
	if input.String() != long || other.String() != "\x04"+`{"Width":80,"Height":24}` {
		t.Errorf("%d bytes, %q", input.Len(), other.String())
	}
}

// A connection that breaks off is told from a command that ends.
func TestChannelsThatBreakOff(t *testing.T) {
	for name, sent := range map[string][]string{
		"at once": nil, "after output": {"\x01a"}, "in the status": {"\x01a", succeeded[:9]},
	} {
		t.Run(name, func(t *testing.T) {
			server, at := serving(t, func(conn *websocket.Conn) {
				says(t, conn, sent...)
				_ = conn.NetConn().Close()
			})
			if _, err := Stream(t.Context(), server, at, Session{Stdout: io.Discard}); !IsLost(err) {
				t.Error(err)
			}
		})
	}
}

// open is a connection of a test, with this much patience.
func open(t *testing.T, s Session, p patience, serve func(*websocket.Conn)) error {
	t.Helper()
	server, at := serving(t, serve)
	conn, err := upgraded(t.Context(), server, at)
	if err != nil {
		t.Fatal(err)
	}
	return attached(t.Context(), conn, s, p)
}

// short is a patience that ends within a test.
var short = patience{silence: 200 * time.Millisecond, every: 10 * time.Millisecond}

// A server that does not answer is given up; one that answers has all the time that a command takes.
func TestSilence(t *testing.T) {
	silent := make(chan struct{})
	err := open(t, Session{Stdout: io.Discard}, short, func(*websocket.Conn) { <-silent })
	close(silent)
	if !IsLost(err) || !strings.Contains(err.Error(), "no response from the server for 200ms") {
		t.Error(err)
	}
	err = open(t, Session{Stdout: io.Discard}, short, func(conn *websocket.Conn) {
		go func() { _, _, _ = conn.ReadMessage() }() // which answers pings
		time.Sleep(4 * short.silence)
		says(t, conn, succeeded)
	})
	if err != nil {
		t.Error(err)
	}
}

// paused is a reader of output that stops at its first bytes for as long as a pager is paused.
type paused struct {
	once  sync.Once
	pause time.Duration
	n     int
}

func (p *paused) Write(b []byte) (int, error) {
	p.once.Do(func() { time.Sleep(p.pause) })
	p.n += len(b)
	return len(b), nil
}

// Output that is not read for longer than a server may be silent is all there afterwards. (client-go's own WebSocket
// loses it and the connection.)
func TestPausedReader(t *testing.T) {
	const messages = 2000
	out := &paused{pause: 4 * short.silence}
	err := open(t, Session{Stdout: out}, short, func(conn *websocket.Conn) {
		go func() { _, _, _ = conn.ReadMessage() }()
		for range messages {
			says(t, conn, "\x01"+strings.Repeat("x", bufferSize))
		}
		says(t, conn, succeeded)
	})
	if err != nil || out.n != messages*bufferSize {
		t.Errorf("%d bytes: %v", out.n, err)
	}
}

// A command that does not read its input for longer than a server may be silent gets all of it, also where all of it
// waits in the buffers of the systems between.
func TestPausedCommand(t *testing.T) {
	for _, size := range []int{100_000, 64 << 20} {
		var got int
		input := Session{Stdin: io.LimitReader(zeros{}, int64(size)), Stdout: io.Discard}
		err := open(t, input, short, func(conn *websocket.Conn) {
			time.Sleep(4 * short.silence)
			for {
				_, m, err := conn.ReadMessage()
				if err != nil || m[0] == 255 {
					break
				}
				got += len(m) - 1
			}
			says(t, conn, succeeded)
		})
		if err != nil || got != size {
			t.Errorf("%d of %d bytes: %v", got, size, err)
		}
	}
}

// What a server has said before it closed the connection is all there for a reader that pauses: nothing is sent to a
// connection that is closed, which would throw away what is on its way.
func TestPausedReaderOfWhatHasEnded(t *testing.T) {
	const messages = 20
	out := &paused{pause: 4 * short.silence}
	err := open(t, Session{Stdout: out}, short, func(conn *websocket.Conn) {
		for range messages {
			says(t, conn, "\x01"+strings.Repeat("x", bufferSize))
		}
		says(t, conn, succeeded)
	})
	if err != nil || out.n != messages*bufferSize {
		t.Errorf("%d bytes: %v", out.n, err)
	}
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { return len(p), nil }

// A reader of output that has gone does not end the command, nor does it hold up the rest.
func TestOutputOfNobody(t *testing.T) {
	var stderr bytes.Buffer
	gone, _ := io.Pipe()
	_ = gone.Close()
	broken := writer(func([]byte) (int, error) { return 0, io.ErrClosedPipe })
	server, at := serving(t, func(conn *websocket.Conn) { says(t, conn, "\x01a", "\x01a", "\x02b", failedBy7) })
	status, err := Stream(t.Context(), server, at, Session{Stdout: broken, Stderr: &stderr})
	if err != nil || status != 7 || stderr.String() != "b" {
		t.Errorf("%d, %q: %v", status, stderr.String(), err)
	}
}

type writer func([]byte) (int, error)

func (w writer) Write(p []byte) (int, error) { return w(p) }

// A session ends with its context, whatever the server does.
func TestChannelsEndWithTheContext(t *testing.T) {
	ended := make(chan struct{})
	server, at := serving(t, func(conn *websocket.Conn) {
		defer close(ended)
		_, _, _ = conn.ReadMessage()
	})
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := Stream(ctx, server, at, Session{Stdout: io.Discard}); !errors.Is(err, context.DeadlineExceeded) {
		t.Error(err)
	}
	<-ended // the connection is closed
}
