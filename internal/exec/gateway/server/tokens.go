package server

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"sync"
	"time"
)

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

// add keeps a session, and returns its token. If too many wait, it returns how long to wait
// until there is room.
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
