// Package server is the gateway: it lets users into workspaces and machines with its own
// permissions, after it has asked the API server for theirs.
//
// A request goes through two listeners. The public one knows users: it authenticates and authorizes, finds what is
// asked for, and gets a URL for that, which it calls and whose answer it proxies. The other one, on loopback, knows
// only the tokens of those URLs: it runs what a token stands for and connects the streams.
package server

import (
	"context"
	"log/slog"
	"net"
	"net/http"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/serve"
)

// Timeouts bound what a session can take.
type Timeouts struct {
	Idle     time.Duration // between two pieces of a session
	Creation time.Duration // until a client has created its streams
	Recheck  time.Duration // between two looks whether a client is there, and its user still may
	Drain    time.Duration // from the end of the gateway until no session begins any more
	Stop     time.Duration // from then until those that are open are ended
}

// DefaultTimeouts are those of the kubelet, for a gateway that believes a permission for some
// time. The end of it all fits into the 30 seconds that Kubernetes gives a pod.
func DefaultTimeouts(allowed time.Duration) Timeouts {
	return Timeouts{
		Idle: 4 * time.Hour, Creation: 30 * time.Second, Recheck: min(allowed/10, 30*time.Second),
		Drain: 3 * time.Second, Stop: 15 * time.Second,
	}
}

// Server is a gateway.
type Server struct {
	Guard    *serve.Guard
	Metrics  *serve.Metrics
	Health   *serve.Health
	Log      *slog.Logger
	Now      func() time.Time
	Timeouts Timeouts
	// Backends are by kind; a workspace of a kind without a backend is not found.
	Backends map[Kind]Backend
	// Elsewhere are by kind, too, and come before Backends.
	Elsewhere map[Kind]Elsewhere
	// MaxSessions is how many sessions are open at once.
	MaxSessions int
	// Silent is true for a connection whose other end is gone without a word.
	Silent func(net.Conn) bool
	// Pool is the pool whose machines are served; empty for none.
	Pool string

	tokens   tokens
	sessions sessions
	buffers  buffers
}

// headerTimeout is how long the loopback listener waits for a request.
const headerTimeout = 10 * time.Second

// Work serves the URLs that are handed out on a listener, and looks after the sessions, until
// ctx ends. Then no session begins any more, and those that are open have some time to end.
func (s *Server) Work(ctx context.Context, on net.Listener) error {
	streams := &http.Server{
		Handler: http.HandlerFunc(s.stream), ReadHeaderTimeout: headerTimeout,
		ErrorLog: slog.NewLogLogger(s.Log.Handler(), slog.LevelDebug),
	}
	group, failed := errgroup.WithContext(ctx)
	group.Go(func() error {
		if err := streams.Serve(on); failed.Err() == nil {
			return fault.New(fault.Unavailable, "the server on %s ended: %w", on.Addr(), err)
		}
		return nil
	})
	group.Go(func() error {
		s.recheck(failed)
		return nil
	})
	group.Go(func() error {
		<-failed.Done()
		s.stop(context.WithoutCancel(ctx))
		return streams.Close()
	})
	return group.Wait()
}

// stop ends the sessions.
func (s *Server) stop(ctx context.Context) {
	drain := time.NewTimer(s.Timeouts.Drain)
	defer drain.Stop()
	<-drain.C
	s.sessions.refuse()
	within, cancel := context.WithTimeout(ctx, s.Timeouts.Stop)
	defer cancel()
	s.sessions.wait(within)
	left := s.sessions.list()
	if len(left) == 0 {
		return
	}
	s.Log.Warn("open sessions are ended", slog.Int("sessions", len(left)), slog.Duration("after", s.Timeouts.Stop))
	for _, session := range left {
		session.end(fault.New(fault.Unavailable, "the gateway is stopping"))
	}
	within, cancel = context.WithTimeout(ctx, closing+lingering)
	defer cancel()
	s.sessions.wait(within)
}

// recheckers is how many questions are asked at once.
const recheckers = 16

// recheck ends the sessions of clients that are gone without a word, and of those who may not have them any more.
func (s *Server) recheck(ctx context.Context) {
	tick := time.NewTicker(s.Timeouts.Recheck)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		for _, session := range s.sessions.list() {
			if session.silent() {
				session.end(fault.New(fault.Unavailable, "the client does not answer any more"))
			}
		}
		var group errgroup.Group
		group.SetLimit(recheckers)
		for _, session := range s.sessions.list() {
			group.Go(func() error {
				s.ask(ctx, session)
				return nil
			})
		}
		_ = group.Wait() // nothing fails
	}
}

// ask ends a session if its user may not have it any more. While the API server cannot be asked, it goes on.
func (s *Server) ask(ctx context.Context, session *session) {
	allowed, err := s.Guard.Authorizer.Allowed(ctx, session.who.User, session.who.Access)
	switch {
	case err != nil && ctx.Err() == nil:
		s.Log.Error("the API server could not be asked whether a session may go on",
			slog.String("error", fault.Line(err.Error())))
	case err == nil && !allowed:
		session.end(fault.New(fault.PermissionDenied, "%s may not %s any more", session.who.User.Username,
			session.who.Access))
	}
}
