package server

import (
	"context"
	"io"
	"net/http"
	"strings"

	"k8s.io/streaming/pkg/httpstream"
	"k8s.io/streaming/pkg/httpstream/spdy"
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
		protocols[name+wsstream.ChannelWebSocketProtocol] = wsstream.ChannelProtocolConfig{
			Binary: true, Channels: kinds,
		}
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

// protocolsOfSPDY are what is spoken, the best first. From v4 on the status is a document, from
// v3 on a terminal has sizes.
func protocolsOfSPDY() []string {
	return []string{"v4.channel.k8s.io", "v3.channel.k8s.io", "v2.channel.k8s.io", "channel.k8s.io"}
}

// opened is a stream that a client has created.
type opened struct {
	httpstream.Stream
	replied <-chan struct{}
}

// acceptSPDY waits until a client has created its streams. The server side of k8s.io/cri-streaming does not close the
// connection of a client that does not, and leaves a goroutine behind for each stream too many.
func acceptSPDY(w *hijacked, r *http.Request, o Options, t timeouts) (*streams, error) {
	protocol, err := httpstream.Handshake(r, w, protocolsOfSPDY())
	if err != nil {
		return nil, fault.New(fault.InvalidArgument, "the connection was not upgraded: %w", err)
	}
	wanted := namesOf(o, protocol)
	created := make(chan opened, len(wanted))
	conn := spdy.NewResponseUpgrader().
		UpgradeResponse(w, r, func(stream httpstream.Stream, replied <-chan struct{}) error {
			select {
			case created <- opened{stream, replied}:
				return nil
			default:
				return fault.New(fault.InvalidArgument, "a stream too many")
			}
		})
	if conn == nil {
		return nil, fault.New(fault.InvalidArgument, "the connection was not upgraded")
	}
	conn.SetIdleTimeout(t.idle)
	ctx, cancel := context.WithTimeout(r.Context(), t.creation)
	defer cancel()
	all, err := collect(ctx, conn, created, wanted)
	if err != nil {
		_ = conn.Close()
		return nil, err
	}
	s := &streams{status: all["error"], typed: protocol == protocolsOfSPDY()[0], close: func() { closeSPDY(conn, all) }}
	if o.Stdin {
		s.stdin = using{all["stdin"], w.frames}
	}
	if resize := all["resize"]; resize != nil {
		s.resize = using{resize, w.frames}
	}
	if o.Stdout {
		s.stdout = all["stdout"]
	}
	if o.Stderr {
		s.stderr = all["stderr"]
	}
	return s, nil
}

// namesOf are the streams that a client creates.
func namesOf(o Options, protocol string) map[string]bool {
	sized := protocol == protocolsOfSPDY()[0] || protocol == protocolsOfSPDY()[1]
	names := map[string]bool{"error": true}
	for name, is := range map[string]bool{"stdin": o.Stdin, "stdout": o.Stdout, "stderr": o.Stderr, "resize": o.TTY &&
		sized} {
		if is {
			names[name] = true
		}
	}
	return names
}

// collect waits for each of the streams once.
func collect(ctx context.Context, conn httpstream.Connection, created <-chan opened,
	wanted map[string]bool,
) (map[string]httpstream.Stream, error) {
	all := map[string]httpstream.Stream{}
	for len(all) < len(wanted) {
		select {
		case stream := <-created:
			name := stream.Headers().Get("streamType")
			if !wanted[name] || all[name] != nil {
				return nil, fault.New(fault.InvalidArgument, "unexpected stream %q", name)
			}
			select {
			case <-stream.replied:
			case <-ctx.Done():
			}
			all[name] = stream
		case <-conn.CloseChan():
			return nil, fault.New(fault.Unavailable, "the client is gone")
		case <-ctx.Done():
			return nil, fault.New(fault.DeadlineExceeded, "the client has not created its streams in time")
		}
	}
	return all, nil
}

// closeSPDY ends what is written before the connection: its reset would overtake that.
func closeSPDY(conn httpstream.Connection, all map[string]httpstream.Stream) {
	for _, stream := range all {
		_ = stream.Close()
	}
	_ = conn.Close()
}
