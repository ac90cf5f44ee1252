package kubetest

import (
	"io"
	"net/http"
	"strings"

	"k8s.io/streaming/pkg/httpstream"
	"k8s.io/streaming/pkg/httpstream/spdy"
)

// exec runs a command that prints the log and ends well.
func (s *Server) exec(w http.ResponseWriter, r *http.Request) {
	Exec(w, r, func(streams map[string]httpstream.Stream) {
		_, _ = io.WriteString(streams["stdout"], s.Log)
		for _, name := range []string{"stdout", "stderr"} {
			if stream := streams[name]; stream != nil {
				_ = stream.Close()
			}
		}
		_, _ = io.WriteString(streams["error"], `{"status":"Success"}`)
		_ = streams["error"].Close()
	})
}

// Exec answers a request to run a command as an API server does that knows SPDY alone. The command gets the streams
// that are asked for: stdin, stdout, stderr, resize, and error for a Status. It is over when the client goes.
func Exec(w http.ResponseWriter, r *http.Request, command func(streams map[string]httpstream.Stream)) {
	if !strings.HasPrefix(strings.ToLower(r.Header.Get("Upgrade")), "spdy") {
		http.Error(w, "unable to upgrade: only SPDY is known here", http.StatusBadRequest)
		return
	}
	if _, err := httpstream.Handshake(r, w, []string{"v4.channel.k8s.io"}); err != nil {
		return
	}
	type announced struct {
		httpstream.Stream
		replied <-chan struct{}
	}
	opened := make(chan announced, 5)
	conn := spdy.NewResponseUpgrader().UpgradeResponse(w, r,
		func(stream httpstream.Stream, replied <-chan struct{}) error {
			opened <- announced{stream, replied}
			return nil
		})
	if conn == nil {
		return
	}
	defer func() { _ = conn.Close() }()
	wanted := 1 // the one of errors; a terminal has resize
	for _, name := range []string{"stdin", "stdout", "stderr", "tty"} {
		if r.URL.Query().Get(name) == "true" {
			wanted++
		}
	}
	streams := map[string]httpstream.Stream{}
	for range wanted {
		stream := <-opened
		<-stream.replied // a client waits long for that if the connection ends before
		streams[stream.Headers().Get("streamType")] = stream.Stream
	}
	command(streams)
	<-conn.CloseChan()
}
