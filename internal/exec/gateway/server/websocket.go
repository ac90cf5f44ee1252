package server

import (
	"io"
	"net/http"
	"strings"

	"k8s.io/streaming/pkg/httpstream/wsstream"

	"github.com/berthdev/berth/internal/fault"
)

// The channels of a WebSocket.
const (
	channelStdin = iota
	channelStdout
	channelStderr
	channelError
	channelResize
	channels
)

// acceptWebSocket takes every protocol that the API server takes: v5 has an end of stdin, v4 a
// status that is a document.
func acceptWebSocket(w http.ResponseWriter, r *http.Request, o Options, t timeouts) (*streams, error) {
	kinds := make([]wsstream.ChannelType, channels) // ignored
	kinds[channelError] = wsstream.WriteChannel
	for channel, is := range map[int]bool{channelStdin: o.Stdin, channelResize: o.TTY} {
		if is {
			kinds[channel] = wsstream.ReadChannel
		}
	}
	for channel, is := range map[int]bool{channelStdout: o.Stdout, channelStderr: o.Stderr} {
		if is {
			kinds[channel] = wsstream.WriteChannel
		}
	}
	protocols := wsstream.NewDefaultChannelProtocols(kinds)
	for _, name := range []string{"v4.", "v5."} {
		protocols[name+wsstream.ChannelWebSocketProtocol] = wsstream.ChannelProtocolConfig{Binary: true, Channels: kinds}
	}
	protocols["v4."+wsstream.Base64ChannelWebSocketProtocol] = wsstream.ChannelProtocolConfig{Channels: kinds}
	conn := wsstream.NewConn(protocols)
	conn.SetIdleTimeout(t.idle)
	protocol, all, err := conn.Open(w, r)
	if err != nil {
		return nil, fault.New(fault.InvalidArgument, "the connection was not upgraded: %w", err)
	}
	s := &streams{
		status: all[channelError], typed: strings.HasPrefix(protocol, "v"),
		close: func() { _ = conn.Close() },
	}
	if o.Stdin {
		s.stdin = all[channelStdin]
	}
	if o.TTY {
		s.resize = all[channelResize]
	}
	s.stdout, s.stderr = writer(o.Stdout, all[channelStdout]), writer(o.Stderr, all[channelStderr])
	// Some clients wait for the first message before they send anything.
	for _, first := range []io.Writer{s.stdout, s.stderr, s.status} {
		if first != nil {
			_, _ = first.Write(nil)
			break
		}
	}
	return s, nil
}

func writer(is bool, w io.Writer) io.Writer {
	if !is {
		return nil
	}
	return w
}
