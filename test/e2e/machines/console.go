package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"strconv"
	"sync"
	"time"

	"github.com/creack/pty"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/streaming/pkg/httpstream"
	"k8s.io/streaming/pkg/httpstream/spdy"
	"k8s.io/streaming/pkg/httpstream/wsstream"
)

// streams are those of a console: what is typed, what is shown, the sizes of the terminal, and how it ended.
type streams struct {
	protocol      string
	stdin, resize io.Reader
	stdout, end   io.WriteCloser
	gone          <-chan bool // closed, or sent on, when the other side has gone; nil if stdin says so
	close         func() error
}

// creation is how long the other side may take to open its streams.
const creation = 30 * time.Second

// The version of the streams of both protocols. A runtime does not know a later one.
const version = "v4.channel.k8s.io"

// accept upgrades a connection, to WebSockets or SPDY.
func accept(w http.ResponseWriter, r *http.Request) (*streams, error) {
	if wsstream.IsWebSocketRequest(r) {
		conn := wsstream.NewConn(map[string]wsstream.ChannelProtocolConfig{version: {
			Binary: true, Channels: []wsstream.ChannelType{
				wsstream.ReadChannel, wsstream.WriteChannel, wsstream.IgnoreChannel, wsstream.WriteChannel,
				wsstream.ReadChannel,
			},
		}})
		_, channels, err := conn.Open(w, r) // it answers 403 to another version
		if err != nil {
			return nil, err
		}
		return &streams{
			protocol: "WebSocket", stdin: channels[0], stdout: channels[1], end: channels[3], resize: channels[4],
			close: conn.Close,
		}, nil
	}
	if _, err := httpstream.Handshake(r, w, []string{version}); err != nil {
		return nil, err
	}
	return overSPDY(w, r)
}

func overSPDY(w http.ResponseWriter, r *http.Request) (*streams, error) {
	type announced struct {
		httpstream.Stream
		replied <-chan struct{}
	}
	opened := make(chan announced, 4)
	conn := spdy.NewResponseUpgrader().UpgradeResponse(w, r, func(s httpstream.Stream, replied <-chan struct{}) error {
		select {
		case opened <- announced{s, replied}:
			return nil
		default:
			return errors.New("a console has four streams")
		}
	})
	if conn == nil {
		return nil, errors.New("the connection was not upgraded")
	}
	all, late := map[string]httpstream.Stream{}, time.After(creation)
	for _, name := range []string{"error", "stdin", "stdout", "resize"} {
		for all[name] == nil {
			select {
			case s := <-opened:
				<-s.replied
				all[s.Headers().Get("streamType")] = s.Stream
			case <-late:
				_ = conn.Close()
				return nil, fmt.Errorf("there is no stream %s", name)
			}
		}
	}
	return &streams{
		protocol: "SPDY", stdin: all["stdin"], stdout: all["stdout"], end: all["error"], resize: all["resize"],
		gone: conn.CloseChan(), close: conn.Close,
	}, nil
}

// shell runs a shell at a terminal until it ends, or the other side goes. How it has ended is said, or not.
func (s *streams) shell(says bool) {
	defer func() { _ = s.close() }()
	cmd := exec.Command("/bin/sh")
	cmd.Env = append(os.Environ(), "PS1=machine# ", "TERM=vt100")
	tty, err := pty.Start(cmd)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = tty.Close() }()
	var once sync.Once
	kill := func() { once.Do(func() { _ = cmd.Process.Kill() }) }
	go func() {
		_, _ = io.Copy(tty, s.stdin)
		if s.gone == nil {
			kill() // a WebSocket has no half that ends
		}
	}()
	if s.gone != nil {
		go func() {
			<-s.gone
			kill()
		}()
	}
	go func() {
		sizes := json.NewDecoder(s.resize)
		for {
			var size struct{ Width, Height uint16 }
			if sizes.Decode(&size) != nil {
				return
			}
			_ = pty.Setsize(tty, &pty.Winsize{Rows: size.Height, Cols: size.Width})
		}
	}()
	_, _ = io.Copy(s.stdout, tty) // until the shell and what it has started have gone
	_ = cmd.Wait()
	once.Do(func() {}) // what has ended is not killed
	if says {
		_ = json.NewEncoder(s.end).Encode(statusOf(cmd.ProcessState.ExitCode()))
	}
	_ = s.end.Close()
	_ = s.stdout.Close()
}

// statusOf is what is said of a command's end.
func statusOf(code int) metav1.Status {
	if code == 0 {
		return metav1.Status{Status: metav1.StatusSuccess}
	}
	return metav1.Status{
		Status: metav1.StatusFailure, Reason: "NonZeroExitCode",
		Message: "command terminated with non-zero exit code: " + strconv.Itoa(code),
		Details: &metav1.StatusDetails{
			Causes: []metav1.StatusCause{{Type: "ExitCode", Message: strconv.Itoa(code)}},
		},
	}
}
