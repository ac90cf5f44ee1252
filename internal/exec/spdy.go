package exec

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"sync"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/remotecommand"
	"k8s.io/client-go/transport/spdy"
	"k8s.io/klog/v2"
	"k8s.io/streaming/pkg/httpstream"
	streaming "k8s.io/streaming/pkg/httpstream/spdy"

	"github.com/berthdev/berth/internal/kube"
)

// protocolOfSPDY is the only version that is spoken over SPDY: in those before it, a command that succeeds says
// nothing, and neither does a connection that breaks off.
const protocolOfSPDY = "v4.channel.k8s.io"

func overSPDY(ctx context.Context, config *rest.Config, target *url.URL, s Session) error {
	heard, executor, err := newExecutor(config, target)
	if err != nil {
		return unbegunError{err}
	}
	options := remotecommand.StreamOptions{
		Stdin: s.Stdin, Stdout: heard.output(s.Stdout), Stderr: heard.output(s.Stderr), Tty: s.TTY,
		TerminalSizeQueue: s.Sizes,
	}
	if s.TTY {
		options.Stderr = nil
	}
	// What client-go logs of a connection that ends is what the session ends with.
	return heard.end(executor.StreamWithContext(klog.NewContext(ctx, logr.Discard()), options))
}

// newExecutor is what client-go makes for a configuration, with one that hears.
func newExecutor(config *rest.Config, target *url.URL) (*hearing, remotecommand.Executor, error) {
	secured, err := rest.TLSConfigFor(config)
	if err != nil {
		return nil, nil, err
	}
	upgrader, err := streaming.NewRoundTripperWithConfig(streaming.RoundTripperConfig{
		TLS: secured, Proxier: kube.ProxyFor(config), PingPeriod: asClientGo().every,
	})
	if err != nil {
		return nil, nil, err
	}
	authenticated, err := rest.HTTPWrappersForConfig(config, upgrader)
	if err != nil {
		return nil, nil, err
	}
	heard := &hearing{UpgradeRoundTripper: upgrader}
	executor, err := remotecommand.NewSPDYExecutorForProtocols(authenticated, spdy.NewUpgraderForStreaming(heard),
		http.MethodPost, target, protocolOfSPDY)
	return heard, executor, err
}

// hearing hears what a server says of the end of a command. client-go takes it for a success if nothing is said, and
// its streams end in the same way when they are closed and when their connection breaks off. Of output that cannot be
// written, it says nothing.
type hearing struct {
	httpstream.UpgradeRoundTripper

	mu     sync.Mutex
	begun  bool
	status []byte
	failed error // the first one of output that could not be written
}

// NewConnection implements httpstream.UpgradeRoundTripper.
func (h *hearing) NewConnection(answer *http.Response) (httpstream.Connection, error) {
	if answer.StatusCode != http.StatusSwitchingProtocols {
		if status, is := errors.AsType[*apierrors.StatusError](refusal(errNotUpgraded, answer)); is {
			return nil, fmt.Errorf("%w: %w", errNotUpgraded, status)
		}
	}
	conn, err := h.UpgradeRoundTripper.NewConnection(answer)
	if err != nil {
		return nil, answeredError{err, answer.StatusCode}
	}
	if version := answer.Header.Get(httpstream.HeaderProtocolVersion); version != protocolOfSPDY {
		_ = conn.Close()
		return nil, fmt.Errorf("the server speaks %q, not %q", version, protocolOfSPDY)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.begun = true
	return heardConnection{conn, h}, nil
}

// errNotUpgraded is what client-go says of a server that refuses a session over SPDY.
var errNotUpgraded = errors.New("unable to upgrade connection")

// end is how the session ended, which client-go says ended with err.
func (h *hearing) end(err error) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	switch {
	case !h.begun:
		return unbegunError{err}
	case len(h.status) == 0 && err != nil:
		return lostError{err}
	}
	return withOutput(statusOf(h.status), h.failed)
}

// output is a writer that client-go writes to; nil for none.
func (h *hearing) output(to io.Writer) io.Writer {
	if to == nil {
		return nil
	}
	return heardOutput{to, h}
}

type heardOutput struct {
	io.Writer
	by *hearing
}

func (o heardOutput) Write(p []byte) (int, error) {
	n, err := o.Writer.Write(p)
	if err != nil {
		o.by.mu.Lock()
		defer o.by.mu.Unlock()
		o.by.failed = cmp.Or(o.by.failed, err)
	}
	return n, err
}

type heardConnection struct {
	httpstream.Connection
	by *hearing
}

func (c heardConnection) CreateStream(headers http.Header) (httpstream.Stream, error) {
	stream, err := c.Connection.CreateStream(headers)
	if err != nil || headers.Get(corev1.StreamType) != corev1.StreamTypeError {
		return stream, err
	}
	return heardStream{stream, c.by}, nil
}

type heardStream struct {
	httpstream.Stream
	by *hearing
}

// Read reads the status. What is longer than a status may be is not read: client-go would keep all of it.
func (s heardStream) Read(p []byte) (int, error) {
	n, err := s.Stream.Read(p)
	if s.by.hear(p[:n]) {
		return n, err
	}
	_ = s.Reset()
	return n, io.EOF
}

// hear keeps a part of the status; false if that is all there may be.
func (h *hearing) hear(part []byte) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.status = append(h.status, part[:min(len(part), maxStatus-len(h.status))]...)
	return len(h.status) < maxStatus
}
