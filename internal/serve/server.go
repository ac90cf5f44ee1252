// Package serve is what every role of `berth serve` shares: listening with TLS, authentication and authorization by the
// API server, limits, health, metrics, log and audit, leader election, and an end within a bound.
package serve

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"time"

	"github.com/go-logr/logr"
	"golang.org/x/sync/errgroup"
	"k8s.io/klog/v2"

	"github.com/berthdev/berth/internal/fault"
)

// Config is how a role is served.
type Config struct {
	// Listen is host:port of the role itself; empty for one that nobody asks anything, which has no Handler.
	Listen string
	// ListenFlag is the flag that says Listen, if that is another one than --listen.
	ListenFlag string
	// MetricsListen is host:port of /healthz, /readyz and /metrics, which anybody who reaches it may ask.
	MetricsListen string
	// Cert and Key are files. Without them only loopback is listened on.
	Cert, Key string
	// ClientCertificates asks clients for theirs, which the handler looks at.
	ClientCertificates bool

	Handler  http.Handler
	Health   *Health
	Metrics  *Metrics
	Log      *slog.Logger
	Now      func() time.Time
	Timeouts Timeouts
	// Listening is told the addresses; it may be nil.
	Listening func(role, metrics net.Addr)
}

// Timeouts bound what a client, and the end of the server, can take.
type Timeouts struct {
	Header time.Duration // until the headers of a request are read
	Read   time.Duration // until all of it is
	Write  time.Duration // of one piece of an answer
	Total  time.Duration // of an answer; 0 for any time
	Idle   time.Duration // between two requests
	Drain  time.Duration // from SIGTERM until no connection is accepted any more
	Stop   time.Duration // from then until open requests are cut off
}

// DefaultTimeouts are those of every role. Their end fits into the 30 seconds that Kubernetes gives a pod.
func DefaultTimeouts() Timeouts {
	return Timeouts{
		Header: 10 * time.Second, Read: 30 * time.Second, Write: 30 * time.Second, Total: 30 * time.Minute,
		Idle: 90 * time.Second, Drain: 3 * time.Second, Stop: 15 * time.Second,
	}
}

const maxHeaders = 32 << 10

// Role serves, and works beside that, until ctx ends or the server cannot go on. Open requests are let go on while the
// work ends.
func Role(ctx context.Context, c Config, work func(ctx context.Context) error) error {
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error { return Run(ctx, c) })
	group.Go(func() error { return work(ctx) })
	return group.Wait()
}

// Run serves until the context ends, then lets open requests end within a bound. The error is that of a server that
// cannot listen; the end of the context is none.
func Run(ctx context.Context, c Config) error {
	security, err := c.security()
	if err != nil {
		return err
	}
	var role net.Listener
	if c.Listen != "" {
		if role, err = listen(ctx, c.Listen, cmp.Or(c.ListenFlag, "--listen"), security); err != nil {
			return err
		}
	}
	metrics, err := listen(ctx, c.MetricsListen, "--metrics-listen", security)
	if err != nil {
		if role != nil {
			role.Close()
		}
		return err
	}
	return c.serve(ctx, role, metrics)
}

// serve answers on what is listened on; role is nil if nobody asks it anything.
func (c Config) serve(ctx context.Context, role, metrics net.Listener) error {
	group, failed := errgroup.WithContext(ctx)
	var servers []*http.Server
	answer := func(handler http.Handler, on net.Listener) {
		server := c.server(handler)
		servers = append(servers, server)
		group.Go(func() error { return serveOn(server, on) })
	}
	var at net.Addr
	if role != nil {
		at = role.Addr()
		answer(c.Metrics.counted(c.Now, c.paced(c.Handler)), role)
	}
	answer(c.paced(c.about()), metrics)
	c.Log.Info("listening", addresses(at, metrics.Addr())...)
	if c.Listening != nil {
		c.Listening(at, metrics.Addr())
	}
	group.Go(func() error {
		<-failed.Done()
		c.stop(context.WithoutCancel(ctx), ctx.Err() != nil, servers)
		return nil
	})
	return group.Wait()
}

// addresses are what is listened on, as attributes of a log line.
func addresses(role, metrics net.Addr) []any {
	all := []any{slog.String("metrics", metrics.String())}
	if role != nil {
		all = append([]any{slog.String("address", role.String())}, all...)
	}
	return all
}

// stop ends the servers: those who look for a ready one have time to find another.
func (c Config) stop(ctx context.Context, drain bool, servers []*http.Server) {
	c.Health.stop()
	if drain {
		wait := time.NewTimer(c.Timeouts.Drain)
		defer wait.Stop()
		<-wait.C
	}
	ctx, cancel := context.WithTimeout(ctx, c.Timeouts.Stop)
	defer cancel()
	for _, server := range servers {
		if err := server.Shutdown(ctx); err != nil {
			c.Log.Warn("open requests are cut off", slog.Duration("after", c.Timeouts.Stop))
			_ = server.Close()
		}
	}
}

// about serves what is known about the server.
func (c Config) about() http.Handler {
	mux := http.NewServeMux()
	mux.Handle("/", c.Health.Handler())
	mux.Handle("GET /metrics", c.Metrics.handler())
	return mux
}

func (c Config) server(handler http.Handler) *http.Server {
	return &http.Server{
		Handler: handler, ReadHeaderTimeout: c.Timeouts.Header, ReadTimeout: c.Timeouts.Read,
		IdleTimeout: c.Timeouts.Idle, MaxHeaderBytes: maxHeaders,
		// What clients do wrong in a handshake is theirs to know.
		ErrorLog: slog.NewLogLogger(c.Log.Handler(), slog.LevelDebug),
	}
}

func serveOn(server *http.Server, on net.Listener) error {
	if err := server.Serve(on); !errors.Is(err, http.ErrServerClosed) {
		return fault.New(fault.Unavailable, "the server on %s ended: %w", on.Addr(), err)
	}
	return nil
}

func (c Config) security() (*tls.Config, error) {
	if c.Cert == "" {
		return nil, nil //nolint:nilnil // plain HTTP
	}
	certificate, err := NewCertificate(c.Cert, c.Key, c.Now, func(err error) {
		c.Log.Error("the certificate has changed and cannot be used", slog.String("error", fault.Line(err.Error())))
	})
	if err != nil {
		return nil, err
	}
	security := certificate.Config()
	if c.ClientCertificates {
		security.ClientAuth = tls.RequestClientCert // a bad one is answered with 401
	}
	return security, nil
}

// paced bounds how long an answer may take: each piece of it, and all of it. A time-out of the whole alone would either
// cut off a large download or let a client that reads nothing stay. A connection that a handler takes over is bounded
// by that.
func (c Config) paced(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if c.Timeouts.Total == 0 { // sessions
			paced := &pacer{
				ResponseWriter: w, control: http.NewResponseController(w), write: c.Timeouts.Write,
				now: c.Now,
			}
			paced.extend()
			next.ServeHTTP(paced, r)
			return
		}
		end := c.Now().Add(c.Timeouts.Total)
		ctx, cancel := context.WithTimeout(r.Context(), c.Timeouts.Total)
		defer cancel()
		paced := &pacer{
			ResponseWriter: w, control: http.NewResponseController(w), write: c.Timeouts.Write, end: end,
			now: c.Now,
		}
		paced.extend()
		next.ServeHTTP(paced, r.WithContext(ctx))
		paced.extend() // what is still in the buffers
	})
}

// pacer moves the deadline of a connection with each piece that is written.
type pacer struct {
	http.ResponseWriter
	control *http.ResponseController
	write   time.Duration
	end     time.Time
	now     func() time.Time
}

func (p *pacer) extend() {
	deadline := p.now().Add(p.write)
	if !p.end.IsZero() && deadline.After(p.end) {
		deadline = p.end
	}
	_ = p.control.SetWriteDeadline(deadline) // every connection of net/http has one
}

// Write writes a piece.
func (p *pacer) Write(b []byte) (int, error) {
	p.extend()
	return p.ResponseWriter.Write(b)
}

// Unwrap is for http.ResponseController.
func (p *pacer) Unwrap() http.ResponseWriter { return p.ResponseWriter }

// NewLog is the structured log of a server: lines for a person on a terminal, JSON for everything else.
func NewLog(w io.Writer, terminal bool, level slog.Level) *slog.Logger {
	options := &slog.HandlerOptions{Level: level}
	if terminal {
		return slog.New(slog.NewTextHandler(w, options))
	}
	return slog.New(slog.NewJSONHandler(w, options))
}

// WithLog makes client-go log here what it does with the context. The log of the whole process stays silent: it can
// only be set before anything runs.
func WithLog(ctx context.Context, log *slog.Logger) context.Context {
	return klog.NewContext(ctx, logr.FromSlogHandler(log.Handler()))
}
