package kubetest

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"time"

	"github.com/gorilla/websocket"
	"k8s.io/streaming/pkg/httpstream"
)

// status3 is what API servers say of the end of `exit 3`.
const status3 = `{"metadata":{},"status":"Failure","message":"command terminated with non-zero exit code: 3",` +
	`"reason":"NonZeroExitCode","details":{"causes":[{"reason":"ExitCode","message":"3"}]}}`

// Ending is a way in which a server ends the session of `exit 3`.
type Ending struct {
	Name string
	// Sure is true if the client can tell that the exit status was 3.
	Sure bool

	says  string
	after time.Duration
	cut   func(*net.TCPConn) // nil for a connection that is closed as it should be
}

// Endings are all ways.
func Endings() []Ending {
	half := status3[:len(status3)/2]
	reset := func(conn *net.TCPConn) {
		_ = conn.SetLinger(0)
		_ = conn.Close()
	}
	end := func(conn *net.TCPConn) { _ = conn.CloseWrite() }
	return []Ending{
		{Name: "a status", Sure: true, says: status3},
		{Name: "a status after a long time", Sure: true, says: status3, after: 300 * time.Millisecond},
		{Name: "no status"},
		{Name: "an EOF", cut: end},
		{Name: "a reset", cut: reset},
		{Name: "half a status", says: half},
		{Name: "half a status, an EOF", says: half, cut: end},
		{Name: "half a status, a reset", says: half, cut: reset},
		{Name: "something else", says: `{"status":"Unknown"}`},
		{Name: "an exit code of success", says: `{"status":"Failure","reason":"NonZeroExitCode",` +
			`"details":{"causes":[{"reason":"ExitCode","message":"0"}]}}`},
	}
}

// Serve runs a command that prints a line and ends so, over SPDY or, where a client asks for that, over WebSockets.
func (e Ending) Serve(w http.ResponseWriter, r *http.Request, webSockets bool) {
	if webSockets && websocket.IsWebSocketUpgrade(r) {
		e.overWebSocket(w, r)
		return
	}
	if r.URL.RawQuery == "" { // that of a console
		r.URL.RawQuery = "stdin=true&stdout=true&tty=true"
	}
	caught := &hijacked{ResponseWriter: w}
	Exec(caught, r, func(streams map[string]httpstream.Stream) {
		<-time.After(e.after)
		_, _ = io.WriteString(streams["stdout"], "so it is\n")
		_, _ = io.WriteString(streams["error"], e.says)
		if e.cut != nil {
			e.cut(caught.conn)
			return
		}
		for _, stream := range streams {
			_ = stream.Close()
		}
	})
}

func (e Ending) overWebSocket(w http.ResponseWriter, r *http.Request) {
	upgrader := websocket.Upgrader{Subprotocols: []string{"v5.channel.k8s.io"}}
	conn, err := upgrader.Upgrade(w, r, nil)
	if err != nil {
		return
	}
	defer func() { _ = conn.Close() }()
	<-time.After(e.after)
	_ = conn.WriteMessage(websocket.BinaryMessage, []byte("\x01so it is\n"))
	if e.says != "" {
		_ = conn.WriteMessage(websocket.BinaryMessage, []byte("\x03"+e.says))
	}
	if raw, is := conn.NetConn().(*net.TCPConn); is && e.cut != nil {
		e.cut(raw)
	} else {
		_ = conn.WriteMessage(websocket.CloseMessage, websocket.FormatCloseMessage(websocket.CloseNormalClosure, ""))
	}
	_, _ = io.Copy(io.Discard, conn.NetConn()) // what is not read would reset the connection
}

// hijacked keeps the connection of a request.
type hijacked struct {
	http.ResponseWriter
	conn *net.TCPConn
}

func (h *hijacked) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	conn, buffered, err := http.NewResponseController(h.ResponseWriter).Hijack()
	h.conn, _ = conn.(*net.TCPConn)
	return conn, buffered, err
}
