package remotefs

import (
	"bufio"
	"context"
	"errors"
	"io"
	"strconv"
	"sync"

	"github.com/pkg/sftp"

	"github.com/berthdev/berth/internal/exec"
)

const (
	piece  = 256 << 10 // is read and written by the shell that answers
	window = 2 << 20   // is kept of a file that is read or written in order
)

// reader reads a file: in pieces by the shell that answers, or, while it is read in order, from a command of its own.
type reader struct {
	*files
	path string
	size int64

	mu      sync.Mutex
	changed *sync.Cond
	at      int64 // where the kept bytes begin
	kept    []byte
	wanted  int64 // up to where it was asked for
	ended   bool  // nothing comes after what is kept
	err     error
	cancel  context.CancelFunc // of the command; nil while there is none
}

// Fileread implements sftp.FileReader.
func (f *files) Fileread(r *sftp.Request) (io.ReaderAt, error) {
	f.settled(r.Filepath)
	return f.reader(r.Filepath)
}

func (f *files) reader(at string) (*reader, error) {
	rd := &reader{files: f, path: at}
	rd.changed = sync.NewCond(&rd.mu)
	i, err := f.stat("follow", at)
	switch {
	case err != nil:
		return nil, err
	case i.IsDir():
		return nil, errno("EISDIR")
	}
	rd.size = i.size
	if i.size <= piece && i.mode&typeMask == typeRegular && i.size > 0 {
		// The whole of it comes with one answer, and whether it may be read.
		if rd.kept, err = f.get(at, 0, piece); err != nil {
			return nil, err
		}
		rd.ended = true
		return rd, nil
	}
	if _, err := f.get(at, 0, 0); err != nil {
		return nil, err
	}
	return rd, nil
}

// get reads a piece of a file.
func (s *shell) get(at string, offset int64, n int) (content []byte, err error) {
	err = s.ask(nil, func(words []string, r *bufio.Reader) error {
		if len(words) != 1 {
			return errors.New("a piece of a file without its length")
		}
		length, err := strconv.Atoi(words[0])
		if err != nil || length < 0 || length > n {
			return errors.New("a piece of a file of another length")
		}
		content = make([]byte, length)
		_, err = io.ReadFull(r, content)
		return err
	}, "get", at, strconv.FormatInt(offset, 10), strconv.Itoa(n))
	return content, err
}

// ReadAt implements io.ReaderAt. Several read at once, a little out of order.
func (r *reader) ReadAt(p []byte, offset int64) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.cancel == nil && !r.ended && offset == 0 {
		r.stream()
	}
	end := offset + int64(len(p))
	if offset < r.at || r.cancel == nil && !r.ended || offset > r.at+int64(len(r.kept))+window {
		return r.random(p, offset)
	}
	r.wanted = max(r.wanted, end)
	r.changed.Broadcast()
	for !r.ended && r.at+int64(len(r.kept)) < end && offset >= r.at {
		r.changed.Wait()
	}
	switch have := r.at + int64(len(r.kept)); {
	case offset < r.at:
		return r.random(p, offset)
	case offset >= have && r.err != nil:
		return 0, r.err
	case offset >= have && have < r.size: // its end was lost on the way
		return r.random(p, offset)
	case offset >= have:
		return 0, io.EOF
	}
	n := copy(p, r.kept[offset-r.at:])
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

// random reads from anywhere; r.mu is held.
func (r *reader) random(p []byte, offset int64) (int, error) {
	r.mu.Unlock()
	defer r.mu.Lock()
	n := 0
	for n < len(p) {
		content, err := r.get(r.path, offset+int64(n), min(len(p)-n, piece))
		if err != nil {
			return n, err
		}
		if len(content) == 0 {
			return n, io.EOF
		}
		n += copy(p[n:], content)
	}
	return n, nil
}

// stream starts the command that reads the file in order; r.mu is held.
func (r *reader) stream() {
	ctx, cancel := context.WithCancel(r.ctx)
	r.cancel = cancel
	go func() {
		status, err := r.run(ctx, []string{"/bin/sh", "-c", `exec cat <"$1"`, "sh", r.path},
			exec.Session{Stdout: r, Stderr: io.Discard})
		if err == nil && status != 0 {
			err = errno("EIO")
		}
		r.mu.Lock()
		defer r.mu.Unlock()
		r.ended, r.err = true, err
		r.changed.Broadcast()
	}()
}

// Write takes what the command reads, as long as it is asked for.
func (r *reader) Write(p []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for !r.ended && r.at+int64(len(r.kept)) > r.wanted+window {
		r.changed.Wait()
	}
	if r.ended {
		return 0, io.ErrClosedPipe
	}
	r.kept = append(r.kept, p...)
	if old := r.wanted - window - r.at; old > window { // not with each piece
		old = min(old, int64(len(r.kept)))
		r.kept, r.at = r.kept[:copy(r.kept, r.kept[old:])], r.at+old
	}
	r.changed.Broadcast()
	return len(p), nil
}

// Close implements io.Closer.
func (r *reader) Close() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.ended = true
	r.changed.Broadcast()
	if r.cancel != nil {
		r.cancel()
	}
	return nil
}
