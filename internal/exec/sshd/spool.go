package sshd

import (
	"bytes"
	"io"
	"os"
	"sync"
)

const (
	inMemory = 1 << 20   // bytes that a spool keeps in memory
	onDisk   = 256 << 20 // bytes that it keeps besides, in a file without a name
	keptIdle = 64 << 10  // bytes of memory that it keeps while there is nothing
)

// spool is what a command has written and a client has not read. A client may pause for as long as it likes, in a pager
// or with Ctrl-S; but what is still on its way from a cluster when the command ends gets lost there
// (kubernetes#124571), so that it is fetched as it comes. A command that writes much more has to wait for the client.
type spool struct {
	mu      sync.Mutex
	changed *sync.Cond
	memory  bytes.Buffer // what comes next
	file    *os.File     // what comes after that; nil until it is needed
	read    int64        // of the file
	written int64        // to the file
	ended   bool         // nothing is written any more
	gone    bool         // nobody reads any more
}

func newSpool() *spool {
	s := &spool{}
	s.changed = sync.NewCond(&s.mu)
	return s
}

// Write implements io.Writer.
func (s *spool) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for s.written-s.read >= onDisk && !s.gone {
		s.changed.Wait()
	}
	if s.gone {
		return 0, io.ErrClosedPipe
	}
	defer s.changed.Broadcast()
	if s.written == s.read && s.memory.Len() < inMemory {
		return s.memory.Write(p)
	}
	if s.file == nil {
		file, err := os.CreateTemp("", "berth-output-*")
		if err != nil { // then it is the command that waits
			for s.memory.Len() >= inMemory && !s.gone {
				s.changed.Wait()
			}
			return s.memory.Write(p)
		}
		_ = os.Remove(file.Name()) // on Windows when it is closed
		s.file = file
	}
	n, err := s.file.WriteAt(p, s.written)
	s.written += int64(n)
	if err == nil {
		return n, nil
	}
	for (s.memory.Len() > 0 || s.read < s.written) && !s.gone { // the disk is full: then the command waits
		s.changed.Wait()
	}
	if s.gone {
		return n, io.ErrClosedPipe
	}
	_, _ = s.memory.Write(p[n:])
	return len(p), nil
}

// next takes what comes next; nothing at the end.
func (s *spool) next(buffer []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for s.memory.Len() == 0 && s.read == s.written && !s.ended && !s.gone {
		s.changed.Wait()
	}
	defer s.changed.Broadcast()
	switch {
	case s.memory.Len() > 0:
		n, err := s.memory.Read(buffer)
		if s.memory.Len() == 0 && s.memory.Cap() > keptIdle {
			s.memory = bytes.Buffer{}
		}
		return n, err
	case s.read < s.written:
		n, err := s.file.ReadAt(buffer[:min(int64(len(buffer)), s.written-s.read)], s.read)
		if s.read += int64(n); s.read == s.written {
			s.read, s.written = 0, 0
			_ = s.file.Truncate(0)
		}
		return n, err
	}
	return 0, io.EOF
}

// copyTo gives all of it to a client, until its end, or that of the client.
func (s *spool) copyTo(client io.Writer) {
	buffer := make([]byte, 32<<10)
	for {
		n, err := s.next(buffer)
		if n > 0 {
			if _, err := client.Write(buffer[:n]); err != nil {
				break
			}
		}
		if err != nil {
			break
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.gone = true
	s.changed.Broadcast()
	if s.file != nil {
		name := s.file.Name()
		_ = s.file.Close()
		_ = os.Remove(name)
	}
}

// end says that nothing comes any more.
func (s *spool) end() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ended = true
	s.changed.Broadcast()
}
