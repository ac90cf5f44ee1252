package server

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/berthdev/berth/internal/exec"
	"github.com/berthdev/berth/internal/fault"
)

// execPath is what tokens are handed out below.
const execPath = "/exec/"

// lingering is how long a client may take to close its end after the last word.
const lingering = 2 * time.Second

// stream answers the loopback listener, which knows nothing but tokens.
func (s *Server) stream(w http.ResponseWriter, r *http.Request) {
	token, found := strings.CutPrefix(r.URL.Path, execPath)
	if !found || token == "" || r.Method != http.MethodGet && r.Method != http.MethodPost {
		http.NotFound(w, r)
		return
	}
	session := s.tokens.take(s.Now(), token)
	if session == nil {
		http.NotFound(w, r)
		return
	}
	defer session.over()
	ctx, cancel := context.WithCancelCause(context.WithoutCancel(r.Context()))
	defer cancel(nil)
	conn := &hijacked{
		ResponseWriter: w, buffers: &s.buffers, lingers: true,
		gone: func() { cancel(fault.New(fault.Unavailable, "the client is gone")) },
	}
	conn.frames = framesOf(r, session.end)
	defer conn.close(lingering)
	opened, err := accept(conn, r, session.options,
		timeouts{idle: s.Timeouts.Idle + idleGrace, creation: s.Timeouts.Creation})
	if err != nil {
		return
	}
	defer opened.close()
	session.attach(func(cause error) {
		conn.finish(closing)
		cancel(cause)
	})
	idle := idleFor(s.Timeouts.Idle, session.end)
	defer idle.timer.Stop()
	idle.watch(opened)
	opened.finish(session.run(ctx, opened, &s.buffers))
}

// run runs what the session is for. The error is why it was ended, where it was.
func (s *session) run(ctx context.Context, opened *streams, b *buffers) (int, error) {
	to := exec.Session{Stdin: opened.stdin, TTY: s.options.TTY}
	if opened.stdout != nil {
		to.Stdout = output{opened.stdout, b}
	}
	if opened.stderr != nil {
		to.Stderr = output{opened.stderr, b}
	}
	if opened.resize != nil {
		to.Sizes = sizes{json.NewDecoder(opened.resize)}
	}
	status, err := s.runner(ctx, s.options.Command, to)
	if err != nil && ctx.Err() != nil {
		return 0, context.Cause(ctx)
	}
	return status, err
}

// idleGrace is how much longer than a session its connection may be idle, so that the client is told why it ends.
const idleGrace = time.Minute

// idle ends a session on whose streams nothing is sent.
type idle struct {
	timer *time.Timer
	after time.Duration
}

func idleFor(after time.Duration, end func(error)) *idle {
	return &idle{after: after, timer: time.AfterFunc(after, func() {
		end(fault.New(fault.DeadlineExceeded, "nothing was sent for %s", after))
	})}
}

// moved says that something was sent. After the timer was stopped or has fired, it is too late.
func (i *idle) moved() {
	if i.timer.Stop() {
		i.timer.Reset(i.after)
	}
}

// watch lets what is sent on the streams be seen.
func (i *idle) watch(s *streams) {
	if s.stdin != nil {
		s.stdin = seenReader{s.stdin, i}
	}
	if s.resize != nil {
		s.resize = seenReader{s.resize, i}
	}
	if s.stdout != nil {
		s.stdout = seenWriter{s.stdout, i}
	}
	if s.stderr != nil {
		s.stderr = seenWriter{s.stderr, i}
	}
}

type seenReader struct {
	io.Reader
	idle *idle
}

func (s seenReader) Read(p []byte) (int, error) {
	n, err := s.Reader.Read(p)
	s.idle.moved()
	return n, err
}

type seenWriter struct {
	io.Writer
	idle *idle
}

func (s seenWriter) Write(p []byte) (int, error) {
	n, err := s.Writer.Write(p)
	s.idle.moved()
	return n, err
}
