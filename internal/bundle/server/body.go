package server

import (
	"context"
	"io"
	"sync/atomic"

	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/pace"
)

// body is content that is being fetched. A server that sends too little for a while
// ends it with an error.
type body struct {
	io.ReadCloser
	cancel  context.CancelCauseFunc
	watch   *pace.Watch
	stalled atomic.Bool
	host    string
}

func newBody(content io.ReadCloser, host string, cancel context.CancelCauseFunc) *body {
	b := &body{ReadCloser: content, cancel: cancel, host: host}
	b.watch = pace.New(stallTimeout, func() {
		b.stalled.Store(true)
		cancel(nil)
	})
	return b
}

// Read reads a piece.
func (b *body) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if b.stalled.Load() {
		return n, fault.New(fault.Unavailable, "the content server %s %s", b.host, pace.TooLittle(stallTimeout)).
			WithHint("try again in a while")
	}
	b.watch.Heard(n)
	return n, err
}

// Close ends the request.
func (b *body) Close() error {
	b.watch.Disarm()
	b.cancel(nil)
	return b.ReadCloser.Close()
}
