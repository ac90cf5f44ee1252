package git

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"

	"github.com/berthdev/berth/internal/credential"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/pace"
)

var errSilent = errors.New("the remote is silent")

// watchKey is where a context has its watch, a pace.Watch.
type watchKey struct{}

// watched is a context that ends when the remote says too little for too long while it is expected to say something.
func (r Remote) watched(ctx context.Context) (context.Context, context.CancelFunc) {
	if r.Silence == 0 {
		return context.WithCancel(ctx)
	}
	ctx, cancel := context.WithCancelCause(ctx)
	w := pace.New(r.Silence, func() { cancel(errSilent) })
	return context.WithValue(ctx, watchKey{}, w), func() { w.Disarm(); cancel(nil) }
}

// arm begins to wait for the remote, and disarm ends that.
func arm(ctx context.Context) {
	if w, ok := ctx.Value(watchKey{}).(*pace.Watch); ok {
		w.Arm()
	}
}

func disarm(ctx context.Context) {
	if w, ok := ctx.Value(watchKey{}).(*pace.Watch); ok {
		w.Disarm()
	}
}

// counted is a reader of what the remote sends.
func counted(ctx context.Context, r io.Reader) io.Reader {
	if w, ok := ctx.Value(watchKey{}).(*pace.Watch); ok {
		return w.Reader(r)
	}
	return r
}

type readFunc func([]byte) (int, error)

// Read implements io.Reader.
func (f readFunc) Read(p []byte) (int, error) { return f(p) }

// progress is a pack whose bytes are counted.
func (r Remote) progress(pack io.Reader) io.Reader {
	if r.Progress == nil {
		return pack
	}
	var done int64
	return readFunc(func(p []byte) (int, error) {
		n, err := pack.Read(p)
		if done += int64(n); n > 0 {
			r.Progress(done)
		}
		return n, err
	})
}

// client is that of remotes over HTTP.
func (r Remote) client(address *url.URL) *http.Client {
	newClient := credential.NewClient
	if r.InsecureSkipVerify {
		newClient = credential.NewClientWithoutVerification
	}
	client := newClient(address, r.Credential, credential.Basic, r.Limits.Transfer)
	client.Transport = listening{client.Transport}
	if check := client.CheckRedirect; r.SameHost {
		client.CheckRedirect = func(request *http.Request, via []*http.Request) error {
			if request.URL.Host != address.Host {
				return fault.New(fault.Failed, "repository %s redirects to another host, %s, which is refused", r,
					request.URL.Host).
					WithReason(ReasonHostNotTrusted).WithHint("if that is where the repository is now, use " +
					"its address there")
			}
			return check(request, via)
		}
	}
	return client
}

// listening tells the watch of a request what is read.
type listening struct{ next http.RoundTripper }

// RoundTrip implements http.RoundTripper.
func (l listening) RoundTrip(r *http.Request) (*http.Response, error) {
	response, err := l.next.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	body := response.Body
	response.Body = struct {
		io.Reader
		io.Closer
	}{counted(r.Context(), body), body}
	return response, nil
}

// explain is fault for what a watched context may have ended.
func (r Remote) explain(ctx, watched context.Context, err error, ref string) error {
	if ctx.Err() == nil && errors.Is(context.Cause(watched), errSilent) {
		return fault.New(fault.Unavailable, "repository %s: it %s", r, pace.TooLittle(r.Silence)).
			WithHint("try again in a while")
	}
	return r.fault(ctx, err, ref)
}
