package job

import (
	"cmp"
	"context"
	"errors"
	"time"

	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/store"
)

var errSilent = errors.New("no command works on the job")

// Follow hands out a record as it grows, until the job has ended or no command
// works on it any more, and returns the last one.
func (s *Stores) Follow(ctx context.Context, id string, now func() time.Time, show func(Record)) (last Record, err error) {
	watching, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	quiet := time.AfterFunc(silence, func() { stop(errSilent) })
	defer quiet.Stop()
	var damaged error
	deliver := func(d store.Document) (done bool) {
		if d.Revision == "" {
			return false // deleted: whoever works on the job writes it again
		}
		r, err := Decode(d.Value)
		if err != nil {
			damaged = err
			return true
		}
		last = r
		show(r)
		// The age of what is read first is by another clock; afterwards it is this one's.
		quiet.Reset(max(silence-now().Sub(r.UpdatedAt), heartbeat/4))
		return r.Status == Completed
	}
	err = s.primary().Watch(watching, id, deliver)
	if s.nats != nil && fault.CodeOf(err) == fault.NotFound {
		err = s.cluster.Watch(watching, id, deliver)
	}
	if ctx.Err() == nil && errors.Is(context.Cause(watching), errSilent) {
		return last, nil
	}
	return last, cmp.Or(named(err, id), damaged)
}
