package kubetest

import (
	"io"
	"net/http"

	"k8s.io/streaming/pkg/httpstream"
	"k8s.io/streaming/pkg/httpstream/spdy"
)

// exec runs a command that prints the log and ends well. It knows SPDY alone.
func (s *Server) exec(w http.ResponseWriter, r *http.Request) {
	if !httpstream.IsUpgradeRequest(r) || r.Header.Get("Upgrade") == "websocket" {
		http.Error(w, "unable to upgrade: only SPDY is known here", http.StatusBadRequest)
		return
	}
	if _, err := httpstream.Handshake(r, w, []string{"v4.channel.k8s.io"}); err != nil {
		return
	}
	streams := make(chan httpstream.Stream, 5)
	conn := spdy.NewResponseUpgrader().UpgradeResponse(w, r, func(stream httpstream.Stream, _ <-chan struct{}) error {
		streams <- stream
		return nil
	})
	if conn == nil {
		return
	}
	defer func() { _ = conn.Close() }()
	wanted := 1 // the one of errors
	for _, name := range []string{"stdin", "stdout", "stderr"} {
		if r.URL.Query().Get(name) == "true" {
			wanted++
		}
	}
	byType := map[string]httpstream.Stream{}
	for range wanted {
		stream := <-streams
		byType[stream.Headers().Get("streamType")] = stream
	}
	_, _ = io.WriteString(byType["stdout"], s.Log)
	_ = byType["stdout"].Close()
	_, _ = io.WriteString(byType["error"], `{"status":"Success"}`)
	_ = byType["error"].Close()
	<-conn.CloseChan()
}
