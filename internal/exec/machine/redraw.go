package machine

import (
	"math"
	"sync"

	"k8s.io/client-go/tools/remotecommand"
)

// redrawing makes whatever is on the console show itself again at the beginning of a
// session: it is told another size first, and then the real one. A console that has
// the size already would not notice a new terminal.
type redrawing struct {
	sizes remotecommand.TerminalSizeQueue

	mu    sync.Mutex
	real  *remotecommand.TerminalSize // to be told next
	begun bool
}

// Redraw forces the far side to redraw, and then passes the sizes on.
func Redraw(sizes remotecommand.TerminalSizeQueue) remotecommand.TerminalSizeQueue {
	return &redrawing{sizes: sizes}
}

// Next waits for another size; nil when there are no more.
func (r *redrawing) Next() *remotecommand.TerminalSize {
	r.mu.Lock()
	defer r.mu.Unlock()
	if size := r.real; size != nil {
		r.real = nil
		return size
	}
	size := r.sizes.Next()
	if r.begun || size == nil {
		return size
	}
	r.begun, r.real = true, size
	return &remotecommand.TerminalSize{Width: other(size.Width), Height: other(size.Height)}
}

// other is one more, or one less of what is the most.
func other(n uint16) uint16 {
	if n == math.MaxUint16 {
		return n - 1
	}
	return n + 1
}
