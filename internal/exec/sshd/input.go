package sshd

import (
	"bytes"
	"context"
	"errors"
	"io"
	"sync"
	"time"
)

const (
	ctrlC       = 0x03
	maxAhead    = 64 << 10 // bytes that are kept of what is typed before the command runs
	interrupted = 130      // the exit status of a session that ends by Ctrl-C
)

var errInterrupted = errors.New("interrupted")

// ahead is what is typed at a terminal before the command runs. The terminal of the client is raw, so that Ctrl-C is a
// byte like others: it ends the waiting. The rest is for the command.
type ahead struct {
	from io.Reader
	over chan struct{} // closed once nobody but Read reads from it

	mu        sync.Mutex
	held      []byte
	err       error // of the last read
	passed    bool  // the command runs
	interrupt func()
}

// typing begins to read what is typed while ctx lasts, which Ctrl-C ends.
func (s *session) typing(ctx context.Context) (context.Context, *ahead) {
	ctx, interrupt := context.WithCancelCause(ctx)
	a := &ahead{from: s.channel, over: make(chan struct{}), interrupt: func() { interrupt(errInterrupted) }}
	go a.listen()
	return ctx, a
}

// listen reads until the command runs.
func (a *ahead) listen() {
	defer close(a.over)
	buffer := make([]byte, 4<<10)
	for {
		n, err := a.from.Read(buffer)
		if !a.take(buffer[:n], err) {
			return
		}
	}
}

// take keeps what was read; false if no more is to be read.
func (a *ahead) take(typed []byte, err error) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.held, a.err = append(a.held, typed...), err
	if !a.passed && bytes.IndexByte(typed, ctrlC) >= 0 {
		a.passed = true
		a.interrupt()
	}
	return !a.passed && err == nil && len(a.held) < maxAhead
}

// pass leaves the rest to the command, with which Ctrl-C does what it likes.
func (a *ahead) pass() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.passed = true
}

// Read implements io.Reader, for the command.
func (a *ahead) Read(p []byte) (int, error) {
	if n := a.kept(p); n > 0 {
		return n, nil
	}
	<-a.over
	if n := a.kept(p); n > 0 {
		return n, nil
	}
	if a.err != nil {
		return 0, a.err
	}
	return a.from.Read(p)
}

func (a *ahead) kept(p []byte) int {
	a.mu.Lock()
	defer a.mu.Unlock()
	n := copy(p, a.held)
	a.held = a.held[n:]
	return n
}

// typed is the input of a terminal. Its end is not passed on: a terminal has none, and a container runtime that closes
// it loses what the command still writes. sshd does the same.
type typed struct {
	ctx context.Context //nolint:containedctx // of the session, with which it ends
	io.Reader
}

// Read implements io.Reader.
func (t typed) Read(p []byte) (int, error) {
	n, err := t.Reader.Read(p)
	if n == 0 && errors.Is(err, io.EOF) {
		<-t.ctx.Done()
	}
	return n, err
}

// lasting is the input of a command, which does not end before that has begun: a container runtime that closes the
// input earlier loses what the command writes.
type lasting struct {
	io.Reader
	running, over <-chan struct{}
}

// beginTime is how long the end of the input waits for a command that does not say that it has begun.
const beginTime = 5 * time.Second

// Read implements io.Reader.
func (l lasting) Read(p []byte) (int, error) {
	n, err := l.Reader.Read(p)
	if n == 0 && errors.Is(err, io.EOF) {
		late := time.NewTimer(beginTime)
		defer late.Stop()
		select {
		case <-l.running:
		case <-l.over:
		case <-late.C:
		}
	}
	return n, err
}
