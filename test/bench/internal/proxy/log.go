package proxy

import (
	"net/http"
	"sync"
	"time"

	"github.com/berthdev/berth/test/bench/internal/record"
)

// Log is what went by.
type Log struct {
	mu      sync.Mutex
	entries []*record.Request
}

// Take returns what went by since the last time. Requests that are still open
// are included as they are so far.
func (l *Log) Take() []record.Request {
	l.mu.Lock()
	defer l.mu.Unlock()
	out := l.copied()
	l.entries = nil
	return out
}

// Look is Take, but what went by is kept.
func (l *Log) Look() []record.Request {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.copied()
}

// copied are the requests as they are so far; the lock is held.
func (l *Log) copied() []record.Request {
	out := make([]record.Request, 0, len(l.entries))
	for _, entry := range l.entries {
		out = append(out, *entry)
	}
	return out
}

func (l *Log) arrived(r *http.Request) *record.Request {
	entry := &record.Request{Method: r.Method, Path: r.URL.Path, Query: r.URL.RawQuery, Arrived: time.Now()}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.entries = append(l.entries, entry)
	return entry
}

func (l *Log) answered(entry *record.Request, status int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if entry.Answered.IsZero() {
		entry.Status, entry.Answered = status, time.Now()
	}
}

func (l *Log) ended(entry *record.Request) {
	l.mu.Lock()
	defer l.mu.Unlock()
	entry.Ended = time.Now()
}

// answer notices when an answer begins.
type answer struct {
	http.ResponseWriter
	log   *Log
	entry *record.Request
}

// WriteHeader is called once an answer, before its body.
func (a *answer) WriteHeader(status int) {
	a.log.answered(a.entry, status)
	a.ResponseWriter.WriteHeader(status)
}

// Unwrap lets the proxy flush.
func (a *answer) Unwrap() http.ResponseWriter { return a.ResponseWriter }
