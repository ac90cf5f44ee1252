package queue

import (
	"cmp"
	"context"
	"errors"
	"math/big"
	"slices"
	"strconv"
	"time"

	"github.com/berthdev/berth/internal/volume"
)

// ErrHeld is the error of removing a volume that somebody reads.
var ErrHeld = errors.New("the volume is being read")

// Round is what one look at the queue works with.
type Round struct {
	Now      time.Time
	Headroom float64
	// Most is how many volumes wait at most; 0 for any number.
	Most int
	// Disk reads what the disk has.
	Disk func() (Disk, error)
	// Remove removes a volume and its record, unless it is not in its afterlife any more.
	// It waits for nobody: ErrHeld leaves the volume to a later round.
	Remove func(context.Context, volume.Volume) error
	// Crowded is Remove of a volume that goes because too many wait. It is not needed without Most.
	Crowded func(context.Context, volume.Volume) error
	// Failed is told what could not be removed, and when it is tried again.
	Failed func(v volume.Volume, again time.Time, err error)
}

// Run removes what is due, the oldest first. The clock and the disk are read once; under pressure the disk is read
// again after each removal, so that no more goes than has to. A file system may free only later what was removed (XFS,
// btrfs): what was measured counts as free for the rest of the round. A disk that cannot be read shortens nothing.
// Where more wait than may after that, the oldest of them go as well.
func (q *Queue) Run(ctx context.Context, r Round) error {
	disk, err := r.Disk()
	factor := 1.0
	if err == nil {
		factor = disk.Factor(r.Headroom)
	}
	q.mu.Lock()
	candidates, crowded := due(q.order, factor, r.Now), surplus(q.order, factor, r.Now, r.Most)
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
	for _, v := range crowded {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		failure := r.Crowded(ctx, v)
		if failure != nil && !errors.Is(failure, ErrHeld) && ctx.Err() == nil {
			r.Failed(v, q.failed(v.ID, r.Now, failure), failure)
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

// Disk is what the disk of the volumes has at one moment.
type Disk struct {
	// Free, Total and Used are bytes of the file system; what is reserved for root is free.
	Free, Total, Used int64
	// Available is what is free for everybody: Free without root's reserve.
	Available int64
	// FreeInodes and Inodes count files; Inodes is 0 on a file system that has no limit.
	FreeInodes, Inodes int64
}

// Factor is by how much pressure shortens every lifespan. A disk without inodes is as
// full as one without bytes: what is scarcer counts.
func (d Disk) Factor(headroom float64) float64 {
	factor := Factor(d.Free, d.Total, headroom)
	if d.Inodes > 0 {
		factor = min(factor, Factor(d.FreeInodes, d.Inodes, headroom))
	}
	return factor
}

// Factor is 1 while at least the headroom is free, which is a part of the total, else what part of the headroom is.
func Factor(free, total int64, headroom float64) float64 {
	wanted := wanted(total, headroom)
	if free >= wanted {
		return 1
	}
	return float64(max(free, 0)) / float64(wanted)
}

// wanted is ceil(total × headroom), of the headroom as it is written in decimal: the
// product of two floating-point numbers can be a little more than a whole number.
func wanted(total int64, headroom float64) int64 {
	part, _ := new(big.Rat).SetString(strconv.FormatFloat(headroom, 'f', -1, 64))
	part.Mul(part, new(big.Rat).SetInt64(total))
	whole, rest := new(big.Int).QuoRem(part.Num(), part.Denom(), new(big.Int))
	if rest.Sign() > 0 {
		whole.Add(whole, big.NewInt(1))
	}
	return whole.Int64()
}

// Due says whether a volume that was deleted then is to go now: strictly later than its
// lifespan, shortened by the factor, after its deletion.
func Due(deleted time.Time, lifespan time.Duration, factor float64, now time.Time) bool {
	return now.After(volume.Due(deleted, lifespan, factor))
}

// Lifespan is how long the data of a volume outlives its pod: what the pod asks for, but
// never longer than the node allows.
func Lifespan(asked *time.Duration, node time.Duration) time.Duration {
	if asked == nil {
		return node
	}
	return min(*asked, node)
}

// Backoff is how long after so many failures in a row removing is tried again.
func Backoff(failures int) time.Duration {
	const first, most = 5 * time.Second, 10 * time.Minute
	wait := first
	for range failures - 1 {
		if wait *= 2; wait >= most {
			return most
		}
	}
	return wait
}

// due are the volumes that are to go, the oldest first; order has the oldest first.
func due(order []*entry, factor float64, now time.Time) []volume.Volume {
	var found []volume.Volume
	for _, e := range order {
		if Due(e.Deleted, e.Lifespan, factor, now) && !now.Before(e.retry) {
			found = append(found, e.Volume)
		}
	}
	return found
}

// surplus are the volumes that are to go although they are not due, since more wait than may: as many of the oldest
// as are too many when those that are due are gone. One that is tried again later, or kept for a while, stays, and a
// younger one goes in its place. order has the oldest first.
func surplus(order []*entry, factor float64, now time.Time, most int) []volume.Volume {
	if most <= 0 || len(order) <= most {
		return nil
	}
	var rest []volume.Volume
	gone := 0
	for _, e := range order {
		switch {
		case now.Before(e.retry):
		case Due(e.Deleted, e.Lifespan, factor, now):
			gone++
		default:
			rest = append(rest, e.Volume)
		}
	}
	return rest[:max(0, min(len(rest), len(order)-gone-most))]
}

// older is the order of the queue: by the time of deletion, and by ID where that is the same.
func older(a, b *entry) int {
	return cmp.Or(a.Deleted.Compare(b.Deleted), cmp.Compare(a.ID, b.ID))
}

// place is where an entry is in the order, or would be.
func place(order []*entry, e *entry) int {
	at, _ := slices.BinarySearchFunc(order, e, older)
	return at
}
