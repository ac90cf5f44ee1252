package exec

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/gorilla/websocket"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/remotecommand"
	"k8s.io/client-go/transport"
	"k8s.io/streaming/pkg/httpstream"

	"github.com/berthdev/berth/internal/kube"
)

// bufferSize is how much of a stream one message has, in bytes, as client-go sends it.
const bufferSize = 32 << 10

// writeBuffers are those of connections that write: one in which nothing happens needs none.
var writeBuffers sync.Pool //nolint:gochecknoglobals // a pool is for all

// handshakeTime is how long connecting may take, with the server's answer.
const handshakeTime = time.Minute

// maxAnswer is how much of the answer of a server that refuses is read, in bytes.
const maxAnswer = 64 << 10

// upgraded asks a server for a WebSocket that speaks version 5 of the protocol for remote commands: servers before it
// do not know that stdin can end. The errors are those of client-go, which has no way to use a connection that is
// there already.
func upgraded(ctx context.Context, at Server, target *url.URL) (*websocket.Conn, error) {
	settings, err := at.Config.TransportConfig()
	if err != nil {
		return nil, err
	}
	secured, err := transport.TLSConfigFor(settings)
	if err != nil {
		return nil, err
	}
	h := &handshake{tls: secured, proxy: kube.ProxyFor(at.Config), ready: at.Ready}
	authenticated, err := transport.HTTPWrappersForConfig(settings, h)
	if err != nil {
		return nil, err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, target.String(), http.NoBody)
	if err != nil {
		return nil, err
	}
	response, err := authenticated.RoundTrip(request)
	if err != nil {
		return nil, err
	}
	_ = response.Body.Close()
	if h.conn == nil {
		return nil, errors.New("the server did not upgrade the connection")
	}
	return h.conn, nil
}

// handshake is the round trip of one request that becomes a WebSocket.
type handshake struct {
	tls   *tls.Config
	proxy func(*http.Request) (*url.URL, error)
	ready *kube.Ready

	conn *websocket.Conn
}

// TLSClientConfig is for those that wrap this.
func (h *handshake) TLSClientConfig() *tls.Config { return h.tls }

// RoundTrip implements http.RoundTripper.
func (h *handshake) RoundTrip(r *http.Request) (*http.Response, error) {
	dialer := websocket.Dialer{
		Proxy: h.proxy, TLSClientConfig: h.tls, Subprotocols: []string{remotecommand.StreamProtocolV5Name},
		ReadBufferSize: 4 << 10, WriteBufferSize: bufferSize + 1<<10, WriteBufferPool: &writeBuffers,
		HandshakeTimeout: handshakeTime,
	}
	if conn := h.ready.Take(r.Context()); conn != nil {
		defer context.AfterFunc(r.Context(), func() { _ = conn.Close() })()
		there := func(context.Context, string, string) (net.Conn, error) { return conn, nil }
		dialer.Proxy, dialer.NetDialContext, dialer.NetDialTLSContext = nil, there, there
	}
	at := *r.URL
	switch at.Scheme {
	case "https":
		at.Scheme = "wss"
	case "http":
		at.Scheme = "ws"
	default:
		return nil, fmt.Errorf("unknown url scheme: %s", at.Scheme)
	}
	conn, response, err := dialer.DialContext(r.Context(), at.String(), r.Header)
	if errors.Is(err, websocket.ErrBadHandshake) {
		return nil, &httpstream.UpgradeFailureError{Cause: refusal(err, response)}
	}
	if err != nil {
		return nil, err
	}
	if conn.Subprotocol() != remotecommand.StreamProtocolV5Name {
		_ = conn.Close()
		return nil, &httpstream.UpgradeFailureError{Cause: fmt.Errorf("the server speaks %q, not %q",
			conn.Subprotocol(), remotecommand.StreamProtocolV5Name)}
	}
	h.conn = conn
	return response, nil
}

// refusal is the Status that a server has answered with, or else what it said.
func refusal(err error, response *http.Response) error {
	if response == nil || response.Status == "" {
		return err
	}
	body := response.Body
	defer func() { _ = body.Close() }()
	cause := fmt.Errorf("%w (%s)", err, response.Status)
	answer, readErr := io.ReadAll(io.LimitReader(body, maxAnswer))
	response.Body = io.NopCloser(bytes.NewReader(answer)) // for another reader
	if readErr != nil {
		return fmt.Errorf("%w: the answer cannot be read", cause)
	}
	var status metav1.Status
	switch text := bytes.TrimSpace(answer); {
	case len(text) == 0:
		return cause
	case json.Unmarshal(text, &status) == nil && status.Kind == "Status":
		return &apierrors.StatusError{ErrStatus: status}
	default:
		return fmt.Errorf("%w: %s", cause, strings.ToValidUTF8(string(text), "�"))
	}
}
