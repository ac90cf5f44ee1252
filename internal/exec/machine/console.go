package machine

import (
	"bytes"
	"context"
	"io"
	"math"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/remotecommand"

	"github.com/berthdev/berth/internal/exec"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/kube"
)

// Console is the serial console of a machine, and the way to it.
type Console struct {
	Namespace, Name string

	config *rest.Config
	url    *url.URL
	direct bool // at the poollet rather than through the API server
}

// insecureParameter asks the API server not to verify the certificate of the poollet.
const insecureParameter = "insecureSkipTLSVerifyBackend"

// Through is the console through the API server's subresource. The API server may be
// asked not to verify who the poollet is.
func Through(client *kube.Client, name string, insecure bool) (Console, error) {
	base, _, err := rest.DefaultServerUrlFor(client.Config)
	if err != nil {
		return Console{}, fault.New(fault.InvalidArgument, "kubeconfig: %w", err)
	}
	at := &url.URL{Scheme: base.Scheme, Host: base.Host, Path: strings.TrimSuffix(base.Path, "/") +
		Path(client.Namespace, name)}
	if insecure {
		at.RawQuery = url.Values{insecureParameter: {"true"}}.Encode()
	}
	return Console{Namespace: client.Namespace, Name: name, config: client.Config, url: at}, nil
}

// Session is a session as a console has it: always a terminal, which is redrawn at the
// beginning, with an input, and nothing apart for errors.
func Session(s exec.Session) exec.Session {
	s.TTY, s.Stderr = true, nil
	if s.Stdin == nil {
		s.Stdin = strings.NewReader("")
	}
	if s.Sizes != nil {
		s.Sizes = Redraw(s.Sizes)
	}
	return s
}

// Open connects a session with the console until either ends, and returns the status that the far side ends with.
func (c Console) Open(ctx context.Context, s exec.Session) (status int, err error) {
	s = Session(s)
	config, seen := rest.CopyConfig(c.config), &answer{}
	config.Wrap(func(next http.RoundTripper) http.RoundTripper { return noting{next, seen} })
	status, err = exec.Stream(ctx, exec.Server{Config: config}, c.url, s)
	if err != nil && ctx.Err() == nil {
		err = c.failure(ctx, err, seen.outcome(err))
	}
	return status, err
}

// answer is how a request to connect was answered the last time; zero if it was not.
type answer struct {
	mu         sync.Mutex
	code       int
	retryAfter string
}

// outcome is what an answer says.
type outcome struct {
	code       int
	retryAfter string // seconds
	said       string
	status     bool // it is a Status: API servers and gateways answer so, and what is behind them in words alone
	gateway    bool // it is that of a gateway, which may be behind an API server
}

// outcome is how the session was answered that ended with an error. Over WebSockets a refusal is only in the error.
func (a *answer) outcome(err error) outcome {
	a.mu.Lock()
	defer a.mu.Unlock()
	o := outcome{code: a.code, retryAfter: a.retryAfter, said: words(err)}
	if status, is := exec.Refusal(err); is {
		o.code, o.said, o.status = int(status.Code), status.Message, true
		if d := status.Details; d != nil {
			o.gateway = d.Group == kube.Group
			if d.RetryAfterSeconds > 0 {
				o.retryAfter = strconv.Itoa(int(d.RetryAfterSeconds))
			}
		}
	}
	return o
}

// noting notes how requests are answered.
type noting struct {
	next http.RoundTripper
	seen *answer
}

func (n noting) RoundTrip(r *http.Request) (*http.Response, error) {
	response, err := n.next.RoundTrip(r)
	if response != nil {
		n.seen.mu.Lock()
		defer n.seen.mu.Unlock()
		n.seen.code, n.seen.retryAfter = response.StatusCode, response.Header.Get("Retry-After")
	}
	return response, err
}

// redrawing makes whatever is on the console show itself again at the beginning of a session: it is told another size
// first, and then the real one. A console that has the size already would not notice a new terminal.
type redrawing struct {
	sizes remotecommand.TerminalSizeQueue

	mu    sync.Mutex
	real  *remotecommand.TerminalSize // to be told next
	begun bool
}

// Redraw forces the far side to redraw, and then passes the sizes on.
func Redraw(sizes remotecommand.TerminalSizeQueue) remotecommand.TerminalSizeQueue {
	return &redrawing{sizes: sizes}
}

// Next waits for another size; nil when there are no more.
func (r *redrawing) Next() *remotecommand.TerminalSize {
	r.mu.Lock()
	defer r.mu.Unlock()
	if size := r.real; size != nil {
		r.real = nil
		return size
	}
	size := r.sizes.Next()
	if r.begun || size == nil {
		return size
	}
	r.begun, r.real = true, size
	return &remotecommand.TerminalSize{Width: other(size.Width), Height: other(size.Height)}
}

// other is one more, or one less of what is the most.
func other(n uint16) uint16 {
	if n == math.MaxUint16 {
		return n - 1
	}
	return n + 1
}

// LeaveKey is what is typed to leave a console, as with telnet and virsh: Ctrl-]. A
// console does not end by itself, and gets every other key.
const LeaveKey = 0x1d

// Leavable passes on what is typed until somebody leaves.
func Leavable(typed io.Reader, leave func()) io.Reader { return leavable{typed, leave} }

type leavable struct {
	typed io.Reader
	leave func()
}

func (l leavable) Read(p []byte) (int, error) {
	n, err := l.typed.Read(p)
	if i := bytes.IndexByte(p[:n], LeaveKey); i >= 0 {
		l.leave()
		return i, io.EOF
	}
	return n, err
}
