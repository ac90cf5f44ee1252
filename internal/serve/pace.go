package serve

import (
	"context"
	"net/http"
	"time"
)

// paced bounds how long an answer may take: each piece of it, and all of it. A
// time-out of the whole alone would either cut off a large download or let a client
// that reads nothing stay. A connection that a handler takes over is bounded by that.
func (c Config) paced(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if c.Timeouts.Total == 0 { // sessions
			paced := &pacer{ResponseWriter: w, control: http.NewResponseController(w), write: c.Timeouts.Write, now: c.Now}
			paced.extend()
			next.ServeHTTP(paced, r)
			return
		}
		end := c.Now().Add(c.Timeouts.Total)
		ctx, cancel := context.WithTimeout(r.Context(), c.Timeouts.Total)
		defer cancel()
		paced := &pacer{
			ResponseWriter: w, control: http.NewResponseController(w), write: c.Timeouts.Write, end: end,
			now: c.Now,
		}
		paced.extend()
		next.ServeHTTP(paced, r.WithContext(ctx))
		paced.extend() // what is still in the buffers
	})
}

// pacer moves the deadline of a connection with each piece that is written.
type pacer struct {
	http.ResponseWriter
	control *http.ResponseController
	write   time.Duration
	end     time.Time
	now     func() time.Time
}

func (p *pacer) extend() {
	deadline := p.now().Add(p.write)
	if !p.end.IsZero() && deadline.After(p.end) {
		deadline = p.end
	}
	_ = p.control.SetWriteDeadline(deadline) // every connection of net/http has one
}

// Write writes a piece.
func (p *pacer) Write(b []byte) (int, error) {
	p.extend()
	return p.ResponseWriter.Write(b)
}

// Unwrap is for http.ResponseController.
func (p *pacer) Unwrap() http.ResponseWriter { return p.ResponseWriter }
