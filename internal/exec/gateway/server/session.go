package server

import (
	"context"
	"sync"
	"time"

	"github.com/berthdev/berth/internal/exec"
	"github.com/berthdev/berth/internal/serve"
)

// closing is how long a session that is ended has to tell its client why.
const closing = 5 * time.Second

// lastBytes is how long a client may take for what has not been sent yet at the end.
const lastBytes = 2 * time.Minute

// session is one connection of a user with what they have asked for.
type session struct {
	who     serve.Caller
	object  Object
	options Options
	runner  exec.Runner
	silent  func() bool // whether the client is gone without a word

	mu     sync.Mutex
	cause  error         // why it has to end; nil as long as it need not
	cancel func(error)   // ends what runs, with the words of the error; nil if nothing does yet
	force  func()        // closes the client's connection
	forced *time.Timer   // calls force
	gone   chan struct{} // closed when all of it has ended
}

// attach tells the session how what runs is ended. It is ended at once if it should have been
// before.
func (s *session) attach(cancel func(error)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.cancel = cancel
	if s.cause != nil {
		cancel(s.cause)
	}
}

// end ends the session. Its client is told why, within a bound.
func (s *session) end(cause error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.cause != nil {
		return
	}
	s.cause = cause
	s.forced = time.AfterFunc(closing, s.force)
	if s.cancel != nil {
		s.cancel(cause)
	}
}

// why is why the session was ended; nil if it has ended by itself.
func (s *session) why() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.cause
}

// over is called when what runs has ended. What is still on its way to a slow client gets there,
// within a bound.
func (s *session) over() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.forced == nil {
		s.forced = time.AfterFunc(lastBytes, s.force)
	}
}

// sessions are those that are open.
type sessions struct {
	mu       sync.Mutex
	open     map[*session]bool
	stopping bool
}

// entered is whether a session begins.
type entered int

const (
	begins   entered = iota
	stopping         // none begins any more
	full             // none begins until another one has ended
)

// fullFor is after how long somebody may try again who found no room.
const fullFor = 10 * time.Second

// enter adds a session, whose client's connection force closes, if fewer than limit are open.
func (all *sessions) enter(s *session, limit int, force func()) entered {
	all.mu.Lock()
	defer all.mu.Unlock()
	switch {
	case all.stopping:
		return stopping
	case len(all.open) >= limit:
		return full
	}
	if all.open == nil {
		all.open = map[*session]bool{}
	}
	s.force, s.gone = force, make(chan struct{})
	all.open[s] = true
	return begins
}

// leave takes a session out that has ended.
func (all *sessions) leave(s *session) {
	s.mu.Lock()
	if s.forced != nil {
		s.forced.Stop()
	}
	s.mu.Unlock()
	all.mu.Lock()
	defer all.mu.Unlock()
	delete(all.open, s)
	close(s.gone)
}

// list are the open sessions.
func (all *sessions) list() []*session {
	all.mu.Lock()
	defer all.mu.Unlock()
	list := make([]*session, 0, len(all.open))
	for s := range all.open {
		list = append(list, s)
	}
	return list
}

// refuse lets no session begin any more.
func (all *sessions) refuse() {
	all.mu.Lock()
	defer all.mu.Unlock()
	all.stopping = true
}

// wait returns when no session is open, or when ctx ends.
func (all *sessions) wait(ctx context.Context) {
	for _, s := range all.list() {
		select {
		case <-s.gone:
		case <-ctx.Done():
			return
		}
	}
}
