package logs

import (
	"bufio"
	"context"
	"errors"
	"io"
	"time"

	corev1 "k8s.io/api/core/v1"

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
