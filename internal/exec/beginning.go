package exec

import (
	"bytes"
	"sync"
)

// Beginning keeps the first bytes of what is written: the other end can write anything. It
// can be read while that goes on.
type Beginning struct {
	Max int // bytes

	mu   sync.Mutex
	text bytes.Buffer
}

// Write implements io.Writer.
func (b *Beginning) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.text.Write(p[:min(len(p), b.Max-b.text.Len())])
	return len(p), nil
}

// String is what is kept.
func (b *Beginning) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.String()
}
