package exec

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"syscall"
	"testing"

	"github.com/gorilla/websocket"
	"k8s.io/client-go/rest"
	"k8s.io/streaming/pkg/httpstream"

	"github.com/berthdev/berth/internal/kubetest"
)

// servingSPDY is an API server that knows SPDY alone, and says and prints what command does.
func servingSPDY(t *testing.T, command func(streams map[string]httpstream.Stream)) (Server, *url.URL) {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		kubetest.Exec(w, r, func(streams map[string]httpstream.Stream) {
			command(streams)
			for _, stream := range streams {
				_ = stream.Close()
			}
		})
	}))
	t.Cleanup(server.Close)
	at, err := url.Parse(server.URL + "/exec?stdout=true&stderr=true")
	if err != nil {
		t.Fatal(err)
	}
	return Server{Config: &rest.Config{Host: server.URL}}, at
}

// Output that cannot be written is an error of a command that has succeeded, unless its reader has gone. One that has
// failed keeps its status. It is the same over both protocols, and of both outputs.
func TestOutputThatCannotBeWritten(t *testing.T) {
	for name, c := range map[string]struct {
		failing error
		end     string
		status  int
		want    string
	}{
		"the disk is full": {
			syscall.ENOSPC, succeeded, 0, "write the output: no space left on device",
		},
		"the disk is full, and it failed":    {syscall.ENOSPC, failedBy7, 7, ""},
		"the reader has gone":                {syscall.EPIPE, succeeded, 0, ""},
		"the reader in berth has gone":       {io.ErrClosedPipe, succeeded, 0, ""},
		"the reader has gone, and it failed": {syscall.EPIPE, failedBy7, 7, ""},
	} {
		ways := map[string]func(*testing.T) (Server, *url.URL){
			"WebSocket": func(t *testing.T) (Server, *url.URL) {
				return serving(t, func(conn *websocket.Conn) { says(t, conn, "\x01a", "\x02a", "\x01b", c.end) })
			},
			"SPDY": func(t *testing.T) (Server, *url.URL) {
				return servingSPDY(t, func(streams map[string]httpstream.Stream) {
					_, _ = io.WriteString(streams["stdout"], "a")
					_, _ = io.WriteString(streams["stderr"], "a")
					_, _ = io.WriteString(streams["stdout"], "b")
					_, _ = io.WriteString(streams["error"], c.end[1:])
				})
			},
		}
		failing := writer(func([]byte) (int, error) { return 0, c.failing })
		outputs := map[string]Session{
			"stdout": {Stdout: failing, Stderr: io.Discard}, "stderr": {Stdout: io.Discard, Stderr: failing},
		}
		for way, serve := range ways {
			for output, session := range outputs {
				t.Run(way+"/"+output+"/"+name, func(t *testing.T) {
					server, at := serve(t)
					status, err := Stream(t.Context(), server, at, session)
					if status != c.status || (err == nil) != (c.want == "") || IsLost(err) {
						t.Errorf("%d, %v", status, err)
					}
					if c.want != "" && (err == nil || err.Error() != c.want || !errors.Is(err, c.failing)) {
						t.Errorf("%v; want %s", err, c.want)
					}
				})
			}
		}
	}
}

// A server whose status does not end is told to stop: it may send without end, and nothing keeps what it sends.
func TestStatusWithoutEndOverSPDY(t *testing.T) {
	const most = 256 << 20
	sent := make(chan int, 1)
	server, at := servingSPDY(t, func(streams map[string]httpstream.Stream) {
		stopped := make(chan struct{})
		go func() {
			defer close(stopped)
			_, _ = streams["error"].Read(make([]byte, 1)) // which ends when the stream is reset
		}()
		n, part := 0, strings.Repeat(" ", bufferSize)
		for going := true; going && n < most; n += len(part) {
			_, err := io.WriteString(streams["error"], part)
			select {
			case <-stopped:
				going = false
			default:
				going = err == nil
			}
		}
		sent <- n
	})
	_, err := Stream(t.Context(), server, at, Session{Stdout: io.Discard, Stderr: io.Discard})
	if how, _ := Unsure(err); how != "ended without saying how" {
		t.Errorf("%q: %.200v", how, err)
	}
	if n := <-sent; n >= most {
		t.Errorf("all %d bytes are read", n)
	}
}
