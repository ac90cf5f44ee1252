package job

import (
	"cmp"
	"context"
	"errors"
	"time"

	"github.com/berthdev/berth/internal/fault"
)

// How records are written.
const (
	// lastTime is how long the end of a command may be held up.
	lastTime = 2 * time.Second
	// writeTime is how long one attempt may take.
	writeTime = 2 * time.Second
	// pause lets what comes in one burst go in one write.
	pause = 200 * time.Millisecond
	// A write that failed is tried again after a while that grows.
	retryFirst = 250 * time.Millisecond
	retryMost  = time.Second
)

// writer writes one record as it grows.
type writer struct {
	*Recorder
	stores  Stores
	start   Start
	earlier *Record // what a run before has written; nil until it is known
	tidied  chan struct{}
}

// keep writes the newest state whenever the write before is done, until the
// last one is written or its time is over.
func (r *Recorder) keep(ctx context.Context, start Start) {
	w := &writer{Recorder: r, stores: r.stores.in(start.Namespace), start: start}
	// Before the end an attempt has its own time, and afterwards all of them
	// together have what a command may be held up.
	writing, stop := context.WithCancel(ctx)
	defer stop()
	go func() {
		select {
		case <-r.final:
			timer := time.NewTimer(lastTime)
			defer timer.Stop()
			select {
			case <-timer.C:
				stop()
			case <-writing.Done():
			}
		case <-writing.Done():
		}
	}()
	err := w.run(writing)
	if err != nil {
		err = w.fallBack(ctx, err)
	}
	r.mu.Lock()
	r.problem = err
	r.mu.Unlock()
	w.waitTidied(writing)
}

// run returns when the record is complete in the store, or cannot be.
func (w *writer) run(ctx context.Context) error {
	beat := time.NewTicker(heartbeat)
	defer beat.Stop()
	for {
		select {
		case <-w.changed:
		case <-beat.C: // a sign of life
			w.mu.Lock()
			w.touch()
			w.mu.Unlock()
			continue
		}
		last, err := w.write(ctx)
		if err != nil || last {
			return err
		}
		w.tidy(ctx)
		rest(ctx, pause, w.final)
	}
}

// write writes until it succeeds, each time what is newest.
func (w *writer) write(ctx context.Context) (last bool, err error) {
	var before error
	for wait := retryFirst; ; wait = min(2*wait, retryMost) {
		record, isLast := w.snapshot()
		if err = w.put(ctx, record); err == nil {
			return isLast, nil
		}
		if errors.Is(err, context.Canceled) { // the time is over: why was it not done before?
			err = cmp.Or(before, w.stores.late())
		}
		before = err
		if ctx.Err() != nil || !mayPass(err) || isLast && fault.CodeOf(err) == fault.Unauthenticated {
			return false, err // two seconds more would not change who is let in
		}
		until := w.final
		if isLast { // closed by now
			until = nil
		}
		rest(ctx, wait, until)
	}
}

// put makes one attempt.
func (w *writer) put(ctx context.Context, record Record) error {
	ctx, cancel := context.WithTimeout(ctx, writeTime)
	defer cancel()
	if w.start.Resumed && w.earlier == nil {
		earlier, err := w.stores.Get(ctx, record.ID)
		if err != nil && fault.CodeOf(err) != fault.NotFound {
			return err
		}
		w.earlier = &earlier
	}
	if w.earlier != nil && w.earlier.ID != "" {
		record = record.After(*w.earlier)
	}
	return w.stores.primary.Put(ctx, record)
}

// mayPass tells what another attempt can mend from a refusal.
func mayPass(err error) bool {
	switch fault.CodeOf(err) {
	case fault.PermissionDenied, fault.Failed, fault.InvalidArgument, fault.NotFound:
		return false
	}
	return true
}

// rest waits for d, or until a channel is closed.
func rest(ctx context.Context, d time.Duration, until <-chan struct{}) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-until:
	case <-ctx.Done():
	}
}

// fallBack writes what could not be written to NATS into the cluster, once the
// job has ended, for the next command that reaches NATS to move.
func (w *writer) fallBack(ctx context.Context, why error) error {
	<-w.final
	if w.stores.spare == nil {
		return fault.New(fault.CodeOf(why), "the job record was not written: %w", why)
	}
	record, _ := w.snapshot()
	ctx, cancel := context.WithTimeout(ctx, lastTime)
	defer cancel()
	if w.start.Resumed && w.earlier == nil {
		if earlier, err := w.stores.spare.Get(ctx, record.ID); err == nil {
			w.earlier = &earlier
		}
	}
	if w.earlier != nil && w.earlier.ID != "" {
		record = record.After(*w.earlier)
	}
	if err := w.stores.spare.Put(ctx, record); err != nil {
		return fault.New(fault.CodeOf(why), "the job record was not written: %w; nor into the cluster: %w", why, err)
	}
	return fault.New(fault.CodeOf(why), "the job record is in the cluster until a command reaches NATS: %w", why)
}

// tidy removes what has expired and moves what belongs into NATS, once, beside
// the writing.
func (w *writer) tidy(ctx context.Context) {
	if w.tidied != nil {
		return
	}
	w.tidied = make(chan struct{})
	go func() {
		defer close(w.tidied)
		// What fails here, the next command does.
		_, _ = w.stores.Move(ctx)
		_ = w.stores.cluster.Sweep(ctx)
	}()
}

// waitTidied gives what was begun the rest of the time.
func (w *writer) waitTidied(ctx context.Context) {
	if w.tidied == nil {
		return
	}
	select {
	case <-w.tidied:
	case <-ctx.Done():
	}
}
