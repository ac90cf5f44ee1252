package logs

import (
	"bufio"
	"context"
	"errors"
	"io"
	"math"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/kube"
)

const (
	// A log that broke off is asked for again after a pause, twice as long each time.
	firstPause, longestPause = 250 * time.Millisecond, 5 * time.Second
	// A cluster that has been away for longer is given up.
	patience = time.Minute
)

// followLog writes a log until its container ends, a line or a piece of one at a time. If the connection is
// lost it goes on where it was: the times of the lines tell, which are always asked
// for.
func followLog(ctx context.Context, client *kube.Client, pod *corev1.Pod, r Request,
	write func(text string) error,
) error {
	var at position
	var pause time.Duration
	var since time.Time // the first failure in a row
	for {
		opened, err := followOnce(ctx, client, pod, at.resume(r),
			func(piece string) error { return at.take(piece, r.Timestamps, write) })
		if opened || since.IsZero() {
			pause, since = firstPause, time.Now()
		}
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err == nil, !mayPass(err), time.Since(since) > patience:
			return err
		}
		if r.Lost != nil {
			r.Lost(err)
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(pause):
		}
		pause = min(2*pause, longestPause)
	}
}

// mayPass is true for a cluster that cannot be reached at the moment, but not for an
// output that cannot be written to.
func mayPass(err error) bool { return fault.CodeOf(err) == fault.Unavailable }

// followOnce follows it until it ends or breaks off, and says whether it was there.
func followOnce(ctx context.Context, client *kube.Client, pod *corev1.Pod, r Request,
	take func(piece string) error,
) (opened bool, err error) {
	stream, err := open(ctx, client, pod, r)
	if err != nil {
		return false, err
	}
	defer stream.Close()
	text := bufio.NewReaderSize(stream, maxPiece)
	for {
		piece, err := next(text)
		if piece != "" && (err == nil || errors.Is(err, io.EOF)) { // half a piece comes again
			if err := take(piece); err != nil {
				return true, err
			}
		}
		if errors.Is(err, io.EOF) {
			return true, nil
		}
		if err != nil {
			return true, kube.Fault(err, call(client, pod.Name))
		}
	}
}

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
