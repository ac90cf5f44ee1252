package transport

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	utilnet "k8s.io/apimachinery/pkg/util/net"

	"github.com/berthdev/berth/internal/fault"
)

const (
	// A request that fails is sent again for this time, or this often if it is answered with an error: that comes again
	// soon, a server that is started again or that has too much to do does not.
	patience = 10 * time.Second
	attempts = 6
	// One that is refused by a server that has never answered is sent again once: the address is wrong, rather than the
	// server away for a moment.
	firstAttempts = 2
	// The pauses in between, each twice the one before.
	firstPause, longestPause = 100 * time.Millisecond, 2 * time.Second
)

type onceKey struct{}

// Once is for requests that the caller repeats by itself.
func Once(ctx context.Context) context.Context { return context.WithValue(ctx, onceKey{}, true) }

// retrier sends a request again where that is safe. client-go would do so for some failures, up to ten times, without
// regard for the deadline: what it would repeat is handed to it in a form that it does not.
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

// kind says what a failed request has done.
type kind int

const (
	none     kind = iota // it has not failed, or would fail again
	rejected             // it has not been carried out
	lost                 // whether it has is not known
)

// failure is how one attempt has ended.
type failure struct {
	kind     kind
	response bool          // there is an answer
	after    time.Duration // when to come again, if the server says so
	what     string        // for people
	err      error
}

// failureOf judges an attempt. It reads an answer, unless it is a stream or large, since that may break off, too.
func failureOf(response *http.Response, err error, stream bool) failure {
	if err == nil && (!stream || response.StatusCode >= http.StatusBadRequest) {
		if err = readAhead(response); err != nil {
			_ = response.Body.Close()
		}
	}
	switch {
	case err != nil:
		return failureOfConnection(err)
	case response.StatusCode == http.StatusTooManyRequests:
		return failure{kind: rejected, response: true, after: retryAfter(response), what: "it answered " +
			response.Status}
	case response.StatusCode == http.StatusInternalServerError && isOfWebhook(response),
		response.StatusCode < http.StatusInternalServerError, response.StatusCode > http.StatusGatewayTimeout,
		response.StatusCode == http.StatusNotImplemented:
		return failure{}
	}
	return failure{kind: lost, response: true, after: retryAfter(response), what: "it answered " + response.Status}
}

func failureOfConnection(err error) failure {
	operation, ok := errors.AsType[*net.OpError](err)
	switch {
	case ok && operation.Op == "dial" && fault.IsConnectionRefused(err):
		return failure{kind: rejected, what: "connection refused", err: err}
	case fault.IsConnectionReset(err):
		return failure{kind: lost, what: "the connection was reset", err: err}
	case utilnet.IsProbableEOF(err), utilnet.IsHTTP2ConnectionLost(err), fault.IsBrokenPipe(err),
		errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF), strings.Contains(err.Error(), "GOAWAY"):
		return failure{kind: lost, what: "the connection broke off", err: err}
	}
	return failure{err: err}
}

// end is what a request ends with that is not sent again. client-go takes an answer without Retry-After, and an error
// that it does not know, as final.
func (f failure) end(response *http.Response, attempts int) (*http.Response, error) {
	if f.response {
		response.Header.Del("Retry-After")
		return response, nil
	}
	message := f.what
	if f.kind == rejected {
		message = f.err.Error() // it names the address
	}
	if attempts > 1 {
		message += fmt.Sprintf(" (tried %d times)", attempts)
	}
	return nil, fault.New(fault.Unavailable, "the cluster cannot be reached: %s", message).
		WithHint("check the network and the server of the current context (kubectl config view --minify)")
}

// isOfWebhook is true for the answer of the API server when an admission webhook refuses or does not answer: asking
// again takes its whole time-out again.
func isOfWebhook(response *http.Response) bool {
	text, _ := take(response)
	response.Body = again(text, response.Body)
	return bytes.Contains(text, []byte("webhook"))
}

// wholeSize is how much of an answer is read ahead. A larger one that breaks off is not asked for again.
const wholeSize = 1 << 20

// readAhead reads an answer to its end if it is not large.
func readAhead(response *http.Response) error {
	text, err := io.ReadAll(io.LimitReader(response.Body, wholeSize))
	response.Body = again(text, response.Body)
	return err
}

// again is a body whose beginning has been read.
func again(text []byte, rest io.ReadCloser) io.ReadCloser {
	return struct {
		io.Reader
		io.Closer
	}{io.MultiReader(bytes.NewReader(text), rest), rest}
}

// take reads an answer that is not large.
func take(response *http.Response) (text []byte, whole bool) {
	text, err := io.ReadAll(io.LimitReader(response.Body, wholeSize))
	return text, err == nil && len(text) < wholeSize
}
