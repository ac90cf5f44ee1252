package terminal

import (
	"errors"
	"io"
	"io/fs"
	"sync"
	"syscall"

	"github.com/berthdev/berth/internal/fault"
)

const standardOutput = "standard output"

// Checked gives the same streams, but each output fails for good with its first
// error, which is reported to failed: once an output. What is written to it
// afterwards is refused with the same error, so that nobody has to look at each
// write.
func (s Streams) Checked(failed func(*WriteError)) Streams {
	s.Out.Writer = &checked{to: s.Out.Writer, stream: standardOutput, failed: failed}
	s.Err.Writer = &checked{to: s.Err.Writer, stream: "standard error", failed: failed}
	return s
}

// WriteError says that a standard stream cannot be written to.
type WriteError struct {
	Stream string
	fault  *fault.Error
}

// Error names the stream and the reason.
func (e *WriteError) Error() string { return e.fault.Error() }

// Unwrap gives the fault.
func (e *WriteError) Unwrap() error { return e.fault }

// OfResult is true for standard output, which has the results.
func (e *WriteError) OfResult() bool { return e.Stream == standardOutput }

// Closed is true if the reader at the other end of a pipe has gone, such as head:
// it has read what it wanted.
func (e *WriteError) Closed() bool {
	return fault.IsBrokenPipe(e.fault) || errors.Is(e.fault, io.ErrClosedPipe)
}

// checked is an output that fails once.
type checked struct {
	to     io.Writer
	stream string
	failed func(*WriteError)

	mu  sync.Mutex
	err *WriteError
}

// SyscallConn implements syscall.Conn, as far as the stream is a file.
func (c *checked) SyscallConn() (syscall.RawConn, error) {
	file, ok := c.to.(syscall.Conn)
	if !ok {
		return nil, errors.ErrUnsupported
	}
	return file.SyscallConn()
}

// Write writes, unless a write before has failed.
func (c *checked) Write(text []byte) (int, error) {
	c.mu.Lock()
	if c.err != nil {
		defer c.mu.Unlock()
		return 0, c.err
	}
	n, err := c.to.Write(text)
	if err == nil {
		c.mu.Unlock()
		return n, nil
	}
	if path, ok := errors.AsType[*fs.PathError](err); ok {
		err = path.Err // the name of the file is that of the stream
	}
	c.err = &WriteError{Stream: c.stream, fault: fault.New(fault.OutputFailed, "cannot write to %s: %w", c.stream, err).
		WithHint("check where %s goes to, and whether there is space left", c.stream)}
	first := c.err
	c.mu.Unlock()
	c.failed(first)
	return n, first
}
