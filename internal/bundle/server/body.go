package server

import (
	"context"
	"io"
	"sync/atomic"
	"time"

	"github.com/berthdev/berth/internal/fault"
)

// body is content that is being fetched. A server that sends nothing for a while ends
// it with an error.
type body struct {
	io.ReadCloser
	cancel  context.CancelCauseFunc
	stall   *time.Timer
	stalled atomic.Bool
	host    string
}

func newBody(content io.ReadCloser, host string, cancel context.CancelCauseFunc) *body {
	b := &body{ReadCloser: content, cancel: cancel, host: host}
	b.stall = time.AfterFunc(stallTimeout, func() {
		b.stalled.Store(true)
		cancel(nil)
	})
	return b
}

// Read reads a piece.
func (b *body) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if b.stalled.Load() {
		return n, fault.New(fault.Unavailable, "the content server %s has sent nothing for %s", b.host, stallTimeout).
			WithHint("try again in a while")
	}
	if n > 0 {
		b.stall.Reset(stallTimeout)
	}
	return n, err
}

// Close ends the request.
func (b *body) Close() error {
	b.stall.Stop()
	b.cancel(nil)
	return b.ReadCloser.Close()
}
