package registry

import (
	"errors"
	"net/http"
	"time"
)

// ticks is how many pieces a second the answer is sent in.
const ticks = 10

var errClientLeft = errors.New("the client left")

// throttled passes an answer on at a rate in bytes per second.
type throttled struct {
	http.ResponseWriter
	rate int
	done <-chan struct{}
}

func (t *throttled) Write(p []byte) (int, error) {
	written := 0
	for len(p) > 0 {
		piece := min(len(p), max(1, t.rate/ticks))
		n, err := t.ResponseWriter.Write(p[:piece])
		written += n
		if err != nil {
			return written, err
		}
		if flusher, ok := t.ResponseWriter.(http.Flusher); ok {
			flusher.Flush()
		}
		p = p[piece:]
		select {
		case <-t.done:
			return written, errClientLeft
		case <-time.After(time.Second / ticks):
		}
	}
	return written, nil
}
