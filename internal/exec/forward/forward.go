// Package forward makes ports of this machine lead to ports of a pod, and of the pod that
// takes its place when it is gone. The ports stay open meanwhile: clients that connect wait.
package forward

import (
	"context"
	"net"
	"sync"
	"time"

	"k8s.io/streaming/pkg/httpstream"

	"github.com/berthdev/berth/internal/fault"
)

// Endpoint is a pod to which ports can be forwarded.
type Endpoint struct{ Pod, UID string }

// Kind says what an Event is about.
type Kind string

// The kinds of events.
const (
	Listening Kind = "listening" // at an address, for a port
	Connected Kind = "connected" // with a pod
	Lost      Kind = "lost"      // the pod, or the connection to it
	Waiting   Kind = "waiting"   // for a pod
	Refused   Kind = "refused"   // one connection, by the pod
)

// Event is something that is worth telling.
type Event struct {
	Kind    Kind
	Address string // of this machine, with its port
	Port    Port
	Pod     string
	Why     string
}

// Forward forwards ports until its context ends, or the workspace is gone.
type Forward struct {
	Addresses []string
	Ports     []Port
	// Find finds the pod. Without an error and without a pod there is none at the moment,
	// for the reason why; the error NOT_FOUND says that there will be none any more.
	Find func(ctx context.Context) (target *Endpoint, why string, err error)
	// Dial connects with a pod.
	Dial func(ctx context.Context, target Endpoint) (httpstream.Connection, error)
	// Gone returns when the pod is not there any more, with the reason.
	Gone func(ctx context.Context, target Endpoint) (why string)
	// Report takes events, one at a time.
	Report func(Event)
}

// Run forwards. It returns why it ended.
func (f Forward) Run(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	s := &session{Forward: f, waiting: make(chan struct{})}
	first, err := s.connect(ctx, false)
	if err != nil {
		return err
	}
	listeners, err := listen(ctx, f.Addresses, f.Ports)
	if err != nil {
		_ = first.conn.Close()
		return err
	}
	var group sync.WaitGroup
	defer group.Wait()
	defer closeAll(listeners)
	defer cancel()
	for _, l := range listeners {
		port := Port{l.local(), l.remote}
		s.report(Event{Kind: Listening, Address: l.Addr().String(), Port: port, Pod: first.target.Pod})
		group.Go(func() { s.accept(ctx, l) })
	}
	return s.keep(ctx, first)
}

// session is a Forward at work.
type session struct {
	Forward

	reporting sync.Mutex
	mu        sync.Mutex
	now       *link         // nil while there is none
	waiting   chan struct{} // closed when there is one
}

func (s *session) report(e Event) {
	s.reporting.Lock()
	defer s.reporting.Unlock()
	s.Report(e)
}

// keep keeps a link, one after the other.
func (s *session) keep(ctx context.Context, l *link) (err error) {
	for {
		s.set(l)
		why := l.end(ctx, s.Gone)
		s.set(nil)
		quietly := ctx.Err() == nil && l.isRetired() // its connections go on
		if !quietly {
			_ = l.conn.Close()
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if !quietly {
			s.report(Event{Kind: Lost, Pod: l.target.Pod, Why: why})
		}
		if l, err = s.connect(ctx, quietly); err != nil {
			return err
		}
	}
}

func (s *session) set(l *link) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.now = l; l != nil {
		close(s.waiting)
	} else {
		s.waiting = make(chan struct{})
	}
}

// link waits for a link.
func (s *session) link(ctx context.Context) (*link, error) {
	for {
		s.mu.Lock()
		l, waiting := s.now, s.waiting
		s.mu.Unlock()
		if l != nil {
			return l, nil
		}
		select {
		case <-waiting:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// The pauses between two looks for a pod.
const (
	shortestPause = 200 * time.Millisecond
	longestPause  = 2 * time.Second
)

// connect finds a pod and connects with it, as soon as there is one; quietly if nothing but another connection with the
// same pod is wanted.
func (s *session) connect(ctx context.Context, quietly bool) (*link, error) {
	said, pause := "", shortestPause
	for {
		l, why, err := s.try(ctx)
		switch {
		case l != nil:
			if !quietly || said != "" {
				s.report(Event{Kind: Connected, Pod: l.target.Pod})
			}
			return l, nil
		case ctx.Err() != nil:
			return nil, context.Cause(ctx)
		case err != nil:
			return nil, err
		case why != said:
			said = why
			s.report(Event{Kind: Waiting, Why: why})
		}
		select {
		case <-time.After(pause):
			pause = min(2*pause, longestPause)
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}

// try is one attempt. An error is final; a reason to wait is not an error.
func (s *session) try(ctx context.Context) (l *link, why string, err error) {
	target, why, err := s.Find(ctx)
	if err == nil && target != nil {
		var conn httpstream.Connection
		if conn, err = s.Dial(ctx, *target); err == nil {
			return newLink(*target, conn), "", nil
		}
		if fault.CodeOf(err) == fault.NotFound { // it has just gone
			return nil, fault.From(err).Message, nil
		}
	}
	if fault.CodeOf(err) == fault.Unavailable {
		return nil, fault.From(err).Message, nil
	}
	return nil, why, err
}

// accept takes connections until the listener is closed.
func (s *session) accept(ctx context.Context, l listener) {
	var group sync.WaitGroup
	defer group.Wait()
	for {
		conn, err := l.Accept()
		if err != nil {
			return
		}
		group.Go(func() {
			defer conn.Close()
			stop := context.AfterFunc(ctx, func() { conn.Close() })
			defer stop()
			s.serve(ctx, conn, Port{l.local(), l.remote})
		})
	}
}

// serve connects one connection with the pod: with the next link if the one there is is found to be broken.
func (s *session) serve(ctx context.Context, conn net.Conn, port Port) {
	for {
		l, err := s.link(ctx)
		if err != nil {
			return
		}
		streams, err := l.open(port.Remote)
		if err != nil {
			l.broken(err)
			select {
			case <-ctx.Done():
				return
			case <-time.After(shortestPause):
			}
			continue
		}
		if refusal := streams.join(conn); refusal != "" {
			s.report(Event{Kind: Refused, Port: port, Pod: l.target.Pod, Why: refusal})
		}
		return
	}
}
