// Package pace ends a transfer of which too little comes for too long, whether nothing comes or a byte now and then.
package pace

import (
	"fmt"
	"io"
	"sync"
	"time"
)

// least is how many bytes have to come in a second, on average of the time that is waited.
const least = 1 << 10

// Watch ends a transfer. It may be used from several goroutines.
type Watch struct {
	within time.Duration
	late   *time.Timer

	mu   sync.Mutex
	came int64 // since the time was last counted from its beginning
}

// New begins to watch: unless enough is heard within this time, again and again, end is called.
func New(within time.Duration, end func()) *Watch {
	return &Watch{within: within, late: time.AfterFunc(within, end)}
}

// Heard is told how many bytes have come.
func (w *Watch) Heard(bytes int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.came += int64(bytes); w.came >= enough(w.within) {
		w.came = 0
		w.late.Reset(w.within)
	}
}

// Reader is r, of which the watch hears what comes.
func (w *Watch) Reader(r io.Reader) io.Reader { return heard{r, w} }

type heard struct {
	io.Reader
	watch *Watch
}

// Read implements io.Reader.
func (h heard) Read(p []byte) (int, error) {
	n, err := h.Reader.Read(p)
	h.watch.Heard(n)
	return n, err
}

// Arm counts the time from now: something else is waited for.
func (w *Watch) Arm() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.came = 0
	w.late.Reset(w.within)
}

// Disarm waits for nothing, until Arm or until enough is heard.
func (w *Watch) Disarm() { w.late.Stop() }

// enough is what has to come within this time.
func enough(within time.Duration) int64 { return max(1, int64(within.Seconds()*least)) }

// TooLittle is the end of a sentence about the sender: "the server " + TooLittle(within).
func TooLittle(within time.Duration) string {
	return fmt.Sprintf("has sent nothing for too long, or less than %d bytes in %s", enough(within), within)
}
