package server

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httputil"
	"net/url"
	"strconv"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/berthdev/berth/internal/exec"
	"github.com/berthdev/berth/internal/exec/iri"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/serve"
)

// Handler answers the public listener. Base is the URL of the one that knows tokens.
func (s *Server) Handler(base *url.URL) http.Handler {
	transport := &http.Transport{
		// No proxy of the environment: what is called is this very process.
		DisableCompression: true, ResponseHeaderTimeout: headerTimeout, MaxIdleConnsPerHost: -1,
	}
	guarded := s.Guard.Protect(func(r *http.Request) serve.Access {
		o, _ := ObjectAt(r.URL)
		return o.Access(s.Pool, r.Method)
	}, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { s.connect(w, r, base, transport) }))
	health := s.Health.Handler()
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		o, named := ObjectAt(r.URL)
		switch {
		case s.Pool != "" && (r.URL.Path == "/healthz" || r.URL.Path == "/readyz"): // as a poollet has them
			health.ServeHTTP(w, r)
		case !named || s.Backends[o.Kind] == nil && s.Elsewhere[o.Kind] == nil:
			serve.RefuseWith(w, failure(fault.New(fault.NotFound, "no workspace or machine has this path")))
		case r.Method != http.MethodGet && r.Method != http.MethodPost:
			w.Header().Set("Allow", "GET, POST")
			serve.Refuse(w, r, http.StatusMethodNotAllowed, "use GET or POST")
		case !sameOrigin(r):
			serve.Refuse(w, r, http.StatusForbidden, "a page of another site may not connect")
		default:
			guarded.ServeHTTP(w, serve.Noted(r, slog.String("object", o.String())))
		}
	})
}

// sameOrigin is false for what a page of another site asks for: its browser may have the
// certificate of a user, and lets every page connect a WebSocket with that.
func sameOrigin(r *http.Request) bool {
	for _, origin := range r.Header.Values("Origin") {
		if at, err := url.Parse(origin); err != nil || !strings.EqualFold(at.Host, r.Host) {
			return false
		}
	}
	return true
}

// connect gives a user who may have it a session, until it ends.
func (s *Server) connect(w http.ResponseWriter, r *http.Request, base *url.URL, transport http.RoundTripper) {
	o, _ := ObjectAt(r.URL)
	options, err := OptionsOf(o.Kind, r.URL.RawQuery)
	if err == nil && !IsUpgrade(r) {
		err = fault.New(fault.InvalidArgument, "an upgrade of the connection is required")
	}
	if err != nil {
		serve.RefuseWith(w, failure(err))
		return
	}
	who, _ := serve.CallerOf(r.Context())
	elsewhere, run, err := s.resolve(r.Context(), o, options)
	if fault.ReasonOf(err) == iri.ReasonFull {
		refuseFor(w, fullFor, fault.Line(err.Error()))
		return
	}
	if err != nil {
		serve.RefuseWith(w, s.unresolved(err))
		return
	}
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	conn := &hijacked{ResponseWriter: w, buffers: &s.buffers}
	session := &session{
		who: who, object: o, options: options, runner: run,
		silent: func() bool { return conn.is(s.Silent) },
	}
	switch s.sessions.enter(session, s.MaxSessions, func() { conn.finish(0); cancel() }) {
	case stopping:
		serve.RefuseWith(w, failure(fault.New(fault.Unavailable, "the gateway is stopping")))
		return
	case full:
		refuseFor(w, fullFor, "too many sessions are open")
		return
	}
	defer s.sessions.leave(session)
	defer func() { //nolint:contextcheck // the line is that of the request
		if cause := session.why(); cause != nil {
			serve.Note(r.Context(), slog.String("ended", fault.Line(cause.Error())))
		}
	}()
	if elsewhere != nil {
		defer s.Metrics.Session(string(o.Kind))()
		s.passOn(session, elsewhere, cancel).ServeHTTP(conn, r.WithContext(ctx))
		return
	}
	token, wait := s.tokens.add(s.Now(), session)
	if wait > 0 {
		refuseFor(w, wait, "too many requests wait to be connected")
		return
	}
	defer s.tokens.take(s.Now(), token)
	defer s.Metrics.Session(string(o.Kind))()
	s.proxy(&url.URL{Scheme: base.Scheme, Host: base.Host, Path: execPath + token}, transport).
		ServeHTTP(conn, r.WithContext(ctx))
}

// resolve finds what is asked for: where it is, or what runs commands there.
func (s *Server) resolve(ctx context.Context, o Object, options Options) (*url.URL, exec.Runner, error) {
	if at := s.Elsewhere[o.Kind]; at != nil {
		to, err := at(ctx, o)
		return to, nil, err
	}
	run, err := s.Backends[o.Kind](ctx, o, options)
	return nil, run, err
}

// passOn passes a session on to where it is, until either end goes or it has to end.
func (s *Server) passOn(session *session, to *url.URL, cancel func()) http.Handler {
	session.attach(func(error) { cancel() })
	idle := idleFor(s.Timeouts.Idle, session.end)
	proxy := s.proxy(to, toRuntime())
	answered := ofRuntime(session.object) //nolint:bodyclose // the proxy closes it
	proxy.ModifyResponse = func(answer *http.Response) error {
		err := answered(answer)
		idle.watched(answer)
		return err
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer idle.timer.Stop()
		proxy.ServeHTTP(w, r)
	})
}

// refuseFor says that there is no room, and when to try again.
func refuseFor(w http.ResponseWriter, wait time.Duration, why string) {
	w.Header().Set("Retry-After", strconv.Itoa(int(wait.Round(time.Second).Seconds())))
	serve.RefuseWith(w, metav1.Status{
		Status: metav1.StatusFailure, Reason: metav1.StatusReasonTooManyRequests,
		Code: http.StatusTooManyRequests, Message: why,
	})
}

// proxy calls a URL and proxies the answer. It is the standard library's: apimachinery's
// UpgradeAwareHandler does the same, ends with no context, and would be linked for this alone.
func (s *Server) proxy(to *url.URL, transport http.RoundTripper) *httputil.ReverseProxy {
	return &httputil.ReverseProxy{
		Transport: transport,
		Rewrite: func(p *httputil.ProxyRequest) {
			p.Out.URL, p.Out.Host = to, to.Host
			header := http.Header{}
			for name, values := range p.Out.Header {
				if forwarded(name) {
					header[name] = values
				}
			}
			p.Out.Header = header
		},
		ErrorLog: slog.NewLogLogger(s.Log.Handler(), slog.LevelDebug),
		ErrorHandler: func(w http.ResponseWriter, _ *http.Request, err error) {
			if !errors.Is(err, context.Canceled) {
				s.Log.Error("a session could not be connected", slog.String("error", fault.Line(err.Error())))
			}
			serve.RefuseWith(w, failure(fault.New(fault.Unavailable, "the session could not be connected")))
		},
	}
}

// forwarded is true for the headers that an upgrade takes. The others, above all the user's credential, end here.
func forwarded(name string) bool {
	switch name {
	case "Connection", "Upgrade", "X-Stream-Protocol-Version",
		"Sec-Websocket-Key", "Sec-Websocket-Version", "Sec-Websocket-Protocol", "Sec-Websocket-Extensions":
		return true
	}
	return false
}

// unresolved is an error of a backend for a user: what the gateway itself lacks is in its log,
// and nothing that a user can do anything about.
func (s *Server) unresolved(err error) metav1.Status {
	switch fault.CodeOf(err) {
	case fault.NotFound, fault.Failed, fault.Conflict, fault.InvalidArgument:
		if hint := fault.From(err).Hint; hint != "" { // a status has no other place for it
			err = fault.New(fault.CodeOf(err), "%w; %s", err, hint)
		}
		return failure(err)
	}
	s.Log.Error("what was asked for could not be looked up", slog.String("error", fault.Line(err.Error())))
	if code := fault.CodeOf(err); code == fault.PermissionDenied || code == fault.Unauthenticated {
		return failure(fault.New(fault.Internal, "the gateway lacks a permission; its log says which"))
	}
	return failure(err)
}
