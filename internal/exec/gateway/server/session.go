package server

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
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

// attach tells the session how what runs is ended. It is ended at once if it should have been before.
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

// over is called when what runs has ended. What is still on its way to a slow client gets there, within a bound.
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

// What is handed out for a request, and how long.
const (
	tokenBytes = 16 // 128 bits
	tokenFor   = time.Minute
	maxWaiting = 1000
)

// tokens are the requests that wait to be connected, each under a token that works once. A
// token is kept as its hash, so that finding it takes as long whatever it begins with.
type tokens struct {
	mu      sync.Mutex
	waiting map[[sha256.Size]byte]waiting
}

type waiting struct {
	until   time.Time
	session *session
}

// add keeps a session, and returns its token. If too many wait, it returns how long to wait until there is room.
func (t *tokens) add(now time.Time, s *session) (token string, wait time.Duration) {
	t.mu.Lock()
	defer t.mu.Unlock()
	first := now.Add(tokenFor)
	if len(t.waiting) >= maxWaiting {
		for key, w := range t.waiting {
			if !now.Before(w.until) {
				delete(t.waiting, key)
			} else if w.until.Before(first) {
				first = w.until
			}
		}
	}
	if len(t.waiting) >= maxWaiting {
		return "", max(first.Sub(now), time.Second)
	}
	if t.waiting == nil {
		t.waiting = map[[sha256.Size]byte]waiting{}
	}
	raw := make([]byte, tokenBytes)
	_, _ = rand.Read(raw) // never fails
	token = hex.EncodeToString(raw)
	t.waiting[sha256.Sum256([]byte(token))] = waiting{until: now.Add(tokenFor), session: s}
	return token, 0
}

// take gives the session of a token, which is used up by that. Nothing is returned for one
// that is unknown, used or expired.
func (t *tokens) take(now time.Time, token string) *session {
	t.mu.Lock()
	defer t.mu.Unlock()
	key := sha256.Sum256([]byte(token))
	w := t.waiting[key]
	delete(t.waiting, key)
	if !now.Before(w.until) {
		return nil
	}
	return w.session
}
