// Package exec connects this end with what runs elsewhere: a command in a pod, the console
// of a machine. Inside it, pod/ runs commands in workspaces.
package exec

import (
	"context"
	"errors"
	"io"
	"net/url"

	"github.com/go-logr/logr"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/remotecommand"
	clientexec "k8s.io/client-go/util/exec"
	"k8s.io/klog/v2"

	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/kube"
)

// Session is what the other end is connected with.
type Session struct {
	Stdin          io.Reader // nil: none
	Stdout, Stderr io.Writer
	// TTY gives the other end a terminal; its stderr is merged into stdout then.
	TTY bool
	// Sizes are the terminal's sizes, the first one at once.
	Sizes remotecommand.TerminalSizeQueue
}

// Runner runs a command in one place, connected with a session, and returns its exit
// status: anyone who runs commands does not know whether that is through the API server or
// through a gateway.
type Runner func(ctx context.Context, command []string, s Session) (status int, err error)

// Stream connects a session with what a server runs at a URL, and returns the exit status
// of that. It uses WebSockets, or SPDY where the server or a proxy on the way knows only
// that, and stays at the URL, whatever redirects. An error is client-go's own, or the cause
// of the end of the context.
func Stream(ctx context.Context, config *rest.Config, target *url.URL, s Session) (status int, err error) {
	at, redirected := kube.At(config, target)
	executor, err := executorFor(at, target)
	if err != nil {
		return 0, fault.New(fault.Internal, "exec: %w", err)
	}
	// What client-go logs of a connection that ends is what the session ends with.
	ctx = klog.NewContext(ctx, logr.Discard())
	options := remotecommand.StreamOptions{
		Stdin: s.Stdin, Stdout: s.Stdout, Stderr: s.Stderr, Tty: s.TTY,
		TerminalSizeQueue: s.Sizes,
	}
	if s.TTY {
		options.Stderr = nil
	}
	err = stream(ctx, executor, options)
	if exit, ok := errors.AsType[clientexec.CodeExitError](err); ok {
		return exit.Code, nil
	}
	if err != nil && ctx.Err() != nil {
		return 0, context.Cause(ctx)
	}
	if elsewhere := redirected(); elsewhere != nil {
		err = elsewhere
	}
	return 0, err
}

// stream runs the command until the context ends, whatever hangs then: credential
// plugins are run without one.
func stream(ctx context.Context, executor remotecommand.Executor, options remotecommand.StreamOptions) error {
	ended := make(chan error, 1)
	go func() { ended <- executor.StreamWithContext(ctx, options) }()
	select {
	case err := <-ended:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// executorFor prefers WebSockets and falls back to SPDY.
func executorFor(config *rest.Config, target *url.URL) (remotecommand.Executor, error) {
	spdy, err := remotecommand.NewSPDYExecutor(config, "POST", target)
	if err != nil {
		return nil, err
	}
	websocket, err := remotecommand.NewWebSocketExecutor(config, "GET", target.String())
	if err != nil {
		return nil, err
	}
	return remotecommand.NewFallbackExecutor(websocket, spdy, func(err error) bool {
		return !refused(err) && kube.RefusesWebSockets(err)
	})
}

// refused is true for an answer of a gateway, which is the same over SPDY.
func refused(err error) bool {
	status, is := Refusal(err)
	return is && status.Details != nil && status.Details.Group == kube.Group
}
