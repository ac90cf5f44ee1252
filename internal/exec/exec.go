// Package exec connects this end with what runs elsewhere: a command in a pod, the console
// of a machine. Inside it, pod/ runs commands in workspaces.
package exec

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/url"
	"strconv"
	"strings"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/remotecommand"
	clientexec "k8s.io/client-go/util/exec"
	"k8s.io/streaming/pkg/httpstream"

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

// Runner runs a command in one place, connected with a session, and returns its exit status: anyone who runs commands
// does not know whether that is through the API server or through a gateway.
type Runner func(ctx context.Context, command []string, s Session) (status int, err error)

// Server is a server that runs commands.
type Server struct {
	Config *rest.Config
	Ready  *kube.Ready // nil: each session makes a connection
}

// Stream connects a session with what a server runs at a URL, and returns its exit status. It uses WebSockets,
// or SPDY where the server or a proxy on the way knows only that, and stays at the URL, whatever redirects. An error is
// that of the connection, as client-go has it, or the cause of the end of the context.
func Stream(ctx context.Context, server Server, target *url.URL, s Session) (status int, err error) {
	config, redirected := kube.At(server.Config, target)
	server.Config = config
	err = untilEnd(ctx, func() error {
		err := overWebSocket(ctx, server, target, s)
		if err != nil && !refused(err) && kube.RefusesWebSockets(err) {
			err = overSPDY(ctx, config, target, s)
		}
		return err
	})
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

// untilEnd runs a session until the context ends, whatever hangs then: credential plugins are run without one.
func untilEnd(ctx context.Context, run func() error) error {
	ended := make(chan error, 1)
	go func() { ended <- run() }()
	select {
	case err := <-ended:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

func overWebSocket(ctx context.Context, server Server, target *url.URL, s Session) error {
	conn, err := upgraded(ctx, server, target)
	if err != nil {
		return unbegunError{err}
	}
	return attached(ctx, conn, s, asClientGo())
}

// refused is true for an answer of a gateway, which is the same over SPDY.
func refused(err error) bool {
	status, is := Refusal(err)
	return is && status.Details != nil && status.Details.Group == kube.Group
}

// Refusal is the answer of a server that has refused a session, if it is a Status.
func Refusal(err error) (status metav1.Status, is bool) {
	refused, is := errors.AsType[*apierrors.StatusError](Cause(err))
	if !is {
		return metav1.Status{}, false
	}
	return refused.ErrStatus, true
}

// answeredError is that of an answer in words alone, where a session was asked for over SPDY.
type answeredError struct {
	error
	code int
}

func (a answeredError) Unwrap() error { return a.error }

// InWords is the code of a server that has refused a session, if its answer is not a Status; 0 for any other error.
func InWords(err error) (code int) {
	answered, _ := errors.AsType[answeredError](err)
	return answered.code
}

// Cause is why a connection could not become a session: the error of that does not unwrap.
func Cause(err error) error {
	if upgrade, ok := errors.AsType[*httpstream.UpgradeFailureError](err); ok {
		return upgrade.Cause
	}
	return err
}

// Means is true if what a server says names this very object, as API servers and gateways do: kind is "workspace", or
// "machine".
func Means(said, kind, name string) bool {
	return strings.Contains(said, strconv.Quote(name)) || strings.Contains(said+" ", kind+" "+name+" ")
}

// Beginning keeps the first bytes of what is written: the other end can write anything. It
// can be read while that goes on.
type Beginning struct {
	Max int // bytes

	mu   sync.Mutex
	text bytes.Buffer
}

// Write implements io.Writer.
func (b *Beginning) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.text.Write(p[:min(len(p), b.Max-b.text.Len())])
	return len(p), nil
}

// String is what is kept.
func (b *Beginning) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.String()
}
