package exec

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/gorilla/websocket"
	"k8s.io/client-go/rest"

	"github.com/berthdev/berth/internal/kubetest"
)

// endings is a server whose sessions end in the way of the number in the path, of /ws and of /spdy.
func endings(t *testing.T) string {
	t.Helper()
	mux := http.NewServeMux()
	for i, e := range kubetest.Endings() {
		for way, webSockets := range map[string]bool{"ws": true, "spdy": false} {
			mux.HandleFunc(fmt.Sprintf("/%s/%d", way, i), func(w http.ResponseWriter, r *http.Request) {
				e.Serve(w, r, webSockets)
			})
		}
	}
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	return server.URL
}

// over runs a session at a URL, and returns what it printed.
func over(t *testing.T, at string) (status int, printed string, err error) {
	t.Helper()
	target, _ := url.Parse(at + "?stdin=true&stdout=true")
	var out bytes.Buffer
	status, err = Stream(t.Context(), Server{Config: &rest.Config{Host: at}}, target,
		Session{Stdin: strings.NewReader("typed"), Stdout: &out})
	return status, out.String(), err
}

// However a session ends, its exit status is the command's, or it is an error.
func TestEndings(t *testing.T) {
	server := endings(t)
	for i, e := range kubetest.Endings() {
		for _, way := range []string{"ws", "spdy"} {
			t.Run(way+"/"+e.Name, func(t *testing.T) {
				status, printed, err := over(t, fmt.Sprintf("%s/%s/%d", server, way, i))
				how, unsure := Unsure(err)
				switch {
				case e.Sure && (status != 3 || err != nil || printed != "so it is\n"):
					t.Errorf("%d, %q, %v", status, printed, err)
				case !e.Sure && (status != 0 || err == nil):
					t.Errorf("%d, %v", status, err)
				case unsure && (IsLost(err) || how != "ended without saying how"):
					t.Errorf("it is lost, or %s: %v", how, err)
				case !e.Sure && !unsure && !IsLost(err) && !strings.Contains(err.Error(), `invalid exit code "0"`):
					t.Error(err)
				}
			})
		}
	}
}

// Of 500 sessions over each protocol, none has another status than that of its command.
func TestManyEndings(t *testing.T) {
	server, all := endings(t), kubetest.Endings()
	for _, way := range []string{"ws", "spdy"} {
		var group sync.WaitGroup
		var sure atomic.Int32
		room := make(chan struct{}, 50)
		for i := range 500 {
			room <- struct{}{}
			group.Go(func() {
				defer func() { <-room }()
				e := all[i%len(all)]
				switch status, _, err := over(t, fmt.Sprintf("%s/%s/%d", server, way, i%len(all))); {
				case err == nil && status == 3:
					sure.Add(1)
				case err == nil || e.Sure:
					t.Errorf("%s, %s: %d, %v", way, e.Name, status, err)
				}
			})
		}
		group.Wait()
		if n := int(sure.Load()); n != 500/len(all)*2 {
			t.Errorf("%s: %d sessions have their status", way, n)
		}
	}
}

// What came behind the output is said where a connection breaks off, as the output may not be whole.
func TestOutputLostAtTheEnd(t *testing.T) {
	for said, want := range map[string]string{
		succeeded: "succeeded", failedBy7: "ended with exit status 7", noProgram: "failed",
	} {
		server, at := serving(t, func(conn *websocket.Conn) {
			says(t, conn, "\x01a", said)
			_ = conn.NetConn().Close()
		})
		_, err := Stream(t.Context(), server, at, Session{Stdout: io.Discard})
		want += ", but its connection broke off: the end of its output may be missing"
		if how, _ := Unsure(err); how != want || IsLost(err) {
			t.Errorf("%q, %v", how, err)
		}
	}
}

// A connection that breaks off before it is a session is none that is lost.
func TestBrokenOffBeforeTheSession(t *testing.T) {
	for name, breakOff := range map[string]func(*net.TCPConn){
		"EOF":   func(conn *net.TCPConn) { _ = conn.CloseWrite() },
		"reset": func(conn *net.TCPConn) { _ = conn.SetLinger(0) },
	} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			conn, _, err := http.NewResponseController(w).Hijack()
			if err != nil {
				t.Error(err)
				return
			}
			breakOff(conn.(*net.TCPConn))
			_ = conn.Close()
		}))
		t.Cleanup(server.Close)
		if _, _, err := over(t, server.URL); err == nil || IsLost(err) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if !IsLost(fmt.Errorf("read: %w", io.EOF)) || IsLost(unbegunError{io.EOF}) ||
		!errors.Is(unbegunError{io.EOF}, io.EOF) {
		t.Error("an EOF is lost in a session alone")
	}
}
