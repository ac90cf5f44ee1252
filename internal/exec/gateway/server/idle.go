package server

import (
	"io"
	"time"

	"github.com/berthdev/berth/internal/fault"
)

// idleGrace is how much longer than a session its connection may be idle, so that the client is
// told why it ends.
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

// Read implements io.Reader.
func (s seenReader) Read(p []byte) (int, error) {
	n, err := s.Reader.Read(p)
	s.idle.moved()
	return n, err
}

type seenWriter struct {
	io.Writer
	idle *idle
}

// Write implements io.Writer.
func (s seenWriter) Write(p []byte) (int, error) {
	n, err := s.Writer.Write(p)
	s.idle.moved()
	return n, err
}
