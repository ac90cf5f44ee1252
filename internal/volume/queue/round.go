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
// A file system may free only later what was removed (XFS, btrfs): what was measured counts as
// free for the rest of the round. A disk that cannot be read shortens nothing.
func (q *Queue) Run(ctx context.Context, r Round) error {
	disk, err := r.Disk()
	factor := 1.0
	if err == nil {
		factor = disk.Factor(r.Headroom)
	}
	q.mu.Lock()
	candidates := due(q.order, factor, r.Now)
	q.mu.Unlock()
	for _, v := range candidates {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if !Due(v.Deleted, v.Lifespan, factor, r.Now) {
			continue // there is enough room now
		}
		switch failure := r.Remove(ctx, v); {
		case errors.Is(failure, ErrHeld), ctx.Err() != nil:
			continue
		case failure != nil:
			r.Failed(v, q.failed(v.ID, r.Now, failure), failure)
		default:
			disk.Free, disk.FreeInodes = disk.Free+max(v.Bytes, 0), disk.FreeInodes+max(v.Inodes, 0)
		}
		if factor < 1 {
			if now, again := r.Disk(); again == nil {
				now.Free, now.FreeInodes = max(now.Free, disk.Free), max(now.FreeInodes, disk.FreeInodes)
				disk, factor = now, now.Factor(r.Headroom)
			}
		}
	}
	return err
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
