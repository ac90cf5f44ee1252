package queue

import (
	"context"
	"errors"
	"time"

	"github.com/berthdev/berth/internal/volume"
)

// ErrHeld is the error of removing a volume that somebody reads.
var ErrHeld = errors.New("the volume is being read")

// Round is what one look at the queue works with.
type Round struct {
	Now      time.Time
	Headroom float64
	// Disk reads what the disk has.
	Disk func() (Disk, error)
	// Remove removes a volume and its record, unless it is not in its afterlife any more.
	// It waits for nobody: ErrHeld leaves the volume to a later round.
	Remove func(context.Context, volume.Volume) error
	// Failed is told what could not be removed, and when it is tried again.
	Failed func(v volume.Volume, again time.Time, err error)
}

// Run removes what is due, the oldest first. The clock and the disk are read once;
// under pressure the disk is read again after each removal, so that no more goes than has to.
// A disk that cannot be read shortens nothing.
func (q *Queue) Run(ctx context.Context, r Round) error {
	factor, err := r.factor()
	q.mu.Lock()
	candidates := due(q.order, factor, r.Now)
	q.mu.Unlock()
	for _, v := range candidates {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if !Due(v.Deleted, v.Lifespan, factor, r.Now) {
			continue // there is enough room by now
		}
		switch failure := r.Remove(ctx, v); {
		case errors.Is(failure, ErrHeld), ctx.Err() != nil:
			continue
		case failure != nil:
			r.Failed(v, q.failed(v.ID, r.Now, failure), failure)
		}
		if factor < 1 {
			if now, again := r.factor(); again == nil {
				factor = now
			}
		}
	}
	return err
}

func (r Round) factor() (float64, error) {
	disk, err := r.Disk()
	if err != nil {
		return 1, err
	}
	return disk.Factor(r.Headroom), nil
}

// failed notes why a volume could not be removed, and says when it is tried again.
func (q *Queue) failed(id string, now time.Time, err error) (again time.Time) {
	q.mu.Lock()
	defer q.mu.Unlock()
	e, ok := q.entries[id]
	if !ok {
		return now
	}
	e.failures++
	e.retry = now.Add(Backoff(e.failures))
	e.Failure = err.Error()
	return e.retry
}
