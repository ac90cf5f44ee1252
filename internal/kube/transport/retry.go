package transport

import (
	"context"
	"math/rand/v2"
	"net/http"
	"strconv"
	"sync/atomic"
	"time"
)

const (
	// A request that fails is sent again for this time, or this often if it is
	// answered with an error: that comes again soon, a server that is started again or
	// that has too much to do does not.
	patience = 10 * time.Second
	attempts = 6
	// One that is refused by a server that has never answered is sent again once:
	// the address is wrong, rather than the server away for a moment.
	firstAttempts = 2
	// The pauses in between, each twice the one before.
	firstPause, longestPause = 100 * time.Millisecond, 2 * time.Second
)

type onceKey struct{}

// Once is for requests that the caller repeats by itself.
func Once(ctx context.Context) context.Context { return context.WithValue(ctx, onceKey{}, true) }

// retrier sends a request again where that is safe. client-go would do so for some
// failures, up to ten times, without regard for the deadline: what it would repeat is
// handed to it in a form that it does not.
type retrier struct {
	next    http.RoundTripper
	reached atomic.Bool  // the server has answered
	ahead   atomic.Int64 // how far its clock is ahead, a Duration
}

// RoundTrip sends a request, again and again if it has to.
func (t *retrier) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Context().Value(onceKey{}) != nil {
		return t.send(r)
	}
	sent, err := newRequest(r)
	if err != nil {
		return nil, err
	}
	ctx := r.Context()
	w, _ := ctx.Value(waitKey{}).(*wait)
	for {
		response, err := t.send(sent.attempt(ctx))
		f := failureOf(response, err, sent.stream)
		if f.kind == none {
			return t.settle(ctx, sent, response, err)
		}
		if f.kind == lost {
			sent.lost = true
		}
		if f.kind == lost && !sent.repeatable {
			if gone := t.condition(ctx, sent); gone != nil {
				return gone, nil
			}
		}
		pause := f.pause(sent.attempts)
		if f.kind == lost && !sent.repeatable || t.isEnough(sent, f, pause) {
			return f.end(response, sent.attempts)
		}
		if response != nil {
			_ = response.Body.Close()
		}
		w.on(w.server() + " (" + f.what + ")")
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(pause):
		}
	}
}

// isEnough decides that a request is not sent again.
func (t *retrier) isEnough(sent *request, f failure, pause time.Duration) bool {
	after := time.Now().Add(pause)
	if deadline, ok := sent.Context().Deadline(); ok && after.After(deadline) {
		return true
	}
	if !sent.replayable || sent.Context().Err() != nil || after.Sub(sent.began) > patience {
		return true
	}
	switch {
	case f.after > 0, f.kind == rejected && f.response: // by a server that has too much to do
		return false
	case f.response, f.kind == lost && !t.reached.Load():
		return sent.attempts >= attempts
	case !t.reached.Load():
		return sent.attempts >= firstAttempts
	}
	return false
}

// send sends it once.
func (t *retrier) send(r *http.Request) (*http.Response, error) {
	response, err := t.next.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	t.reached.Store(true)
	if date, err := http.ParseTime(response.Header.Get("Date")); err == nil {
		t.ahead.Store(int64(time.Until(date)))
	}
	return response, nil
}

// pause is how long to wait before it is sent again.
func (f failure) pause(attempts int) time.Duration {
	if f.after > 0 {
		return f.after
	}
	pause := min(firstPause<<min(attempts-1, 10), longestPause)
	return time.Duration(float64(pause) * (0.75 + rand.Float64()/2))
}

// retryAfter is how long the server asks to wait; 0 if it does not.
func retryAfter(response *http.Response) time.Duration {
	seconds, err := strconv.Atoi(response.Header.Get("Retry-After"))
	if err != nil || seconds <= 0 {
		return 0
	}
	return time.Duration(seconds) * time.Second
}
