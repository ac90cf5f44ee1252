package logs

import (
	"math"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// position is how far a log has been read.
type position struct {
	time string // of the last line
	same int    // lines of that time
	done int    // bytes of the last line that were written

	skip int // lines of that time that come again

	// Of the line that is being read, in bytes: what was read, and what is not written.
	read, leave int
}

// whole is the length of a line that has ended.
const whole = math.MaxInt

// resume is the request for what comes after it.
func (p *position) resume(r Request) Request {
	r.Timestamps = true
	p.read = 0
	at, err := time.Parse(time.RFC3339Nano, p.time)
	if err != nil {
		return r // from the beginning
	}
	p.skip = p.same
	r.Tail, r.Since, r.sinceTime = -1, 0, new(metav1.NewTime(at))
	return r
}

// take writes a line or the next piece of it, as far as it was not written before.
func (p *position) take(piece string, timestamps bool, write func(string) error) error {
	if p.read == 0 {
		p.begin(piece, timestamps)
	}
	text := piece[min(max(p.leave-p.read, 0), len(piece)):]
	p.read += len(piece)
	ended := strings.HasSuffix(piece, "\n")
	switch {
	case p.leave == whole:
	case ended:
		p.done = whole
	default:
		p.done = max(p.done, p.read)
	}
	if ended {
		p.read = 0
	}
	if text == "" {
		return nil
	}
	return write(text)
}

// begin decides what is left out of a line that begins.
func (p *position) begin(line string, timestamps bool) {
	p.leave = 0
	stamp, _, found := strings.Cut(line, " ")
	at, err := time.Parse(time.RFC3339Nano, stamp)
	if !found || err != nil { // has no time
		if p.skip > 0 && !strings.HasPrefix(line, noLog) {
			p.leave = whole // the end of a line that began before the second that is asked for
		}
		return
	}
	last, _ := time.Parse(time.RFC3339Nano, p.time)
	switch {
	case p.skip > 0 && at.Before(last):
		p.leave = whole
	case p.skip > 0 && at.Equal(last):
		p.skip--
		if p.leave = whole; p.skip == 0 {
			p.leave = p.done
		}
	case stamp == p.time:
		p.same++
		p.done = 0
	default:
		p.time, p.same, p.done, p.skip = stamp, 1, 0, 0
	}
	if !timestamps {
		p.leave = max(p.leave, len(stamp)+1)
	}
}
