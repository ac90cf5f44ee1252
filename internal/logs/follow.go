package logs

import (
	"bufio"
	"context"
	"errors"
	"io"
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

// followLog writes the lines of a log until its container ends. If the connection is
// lost it goes on where it was: the times of the lines tell, which are always asked
// for.
func followLog(ctx context.Context, client *kube.Client, pod *corev1.Pod, r Request, write func(line string) error) error {
	var at position
	var pause time.Duration
	var since time.Time // the first failure in a row
	for {
		opened, err := followOnce(ctx, client, pod, at.resume(r), func(line string) error { return at.take(line, r.Timestamps, write) })
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
func followOnce(ctx context.Context, client *kube.Client, pod *corev1.Pod, r Request, take func(line string) error) (opened bool, err error) {
	stream, err := open(ctx, client, pod, r)
	if err != nil {
		return false, err
	}
	defer stream.Close()
	text := bufio.NewReader(stream)
	for {
		line, err := text.ReadString('\n')
		if line != "" && (err == nil || errors.Is(err, io.EOF)) { // half a line comes again
			if err := take(line); err != nil {
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

	skip int // of them, those that come again
}

// resume is the request for what comes after it.
func (p *position) resume(r Request) Request {
	r.Timestamps = true
	at, err := time.Parse(time.RFC3339Nano, p.time)
	if err != nil {
		return r // from the beginning
	}
	p.skip = p.same
	r.Tail, r.Since, r.sinceTime = -1, 0, new(metav1.NewTime(at))
	return r
}

// take writes a line, unless it was written before.
func (p *position) take(line string, timestamps bool, write func(string) error) error {
	stamp, text, found := strings.Cut(line, " ")
	at, err := time.Parse(time.RFC3339Nano, stamp)
	if !found || err != nil {
		return write(line) // has no time
	}
	last, _ := time.Parse(time.RFC3339Nano, p.time)
	switch {
	case p.skip > 0 && at.Before(last):
		return nil
	case p.skip > 0 && at.Equal(last):
		p.skip--
		return nil
	case stamp == p.time:
		p.same++
	default:
		p.time, p.same, p.skip = stamp, 1, 0
	}
	if timestamps {
		text = line
	}
	return write(text)
}
