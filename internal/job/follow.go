package job

import (
	"context"
	"errors"
	"time"
)

// errSilent ends watching a job that nobody is at work on.
var errSilent = errors.New("nobody is at work on the job")

// Follow hands out a record as it grows, until the job has ended or it is
// certain that nobody is at work on it; and returns the last one.
func (s *Stores) Follow(ctx context.Context, id string, now func() time.Time, show func(Record)) (last Record, err error) {
	watching, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	quiet := time.AfterFunc(silence, func() { stop(errSilent) })
	defer quiet.Stop()
	err = s.Watch(watching, id, func(r Record) (done bool) {
		last = r
		show(r)
		// The age of what is read first is by another clock; afterwards it is this one's.
		quiet.Reset(max(silence-now().Sub(r.UpdatedAt), heartbeat/time.Duration(4)))
		return r.Status == Completed
	})
	if ctx.Err() == nil && errors.Is(context.Cause(watching), errSilent) {
		return last, nil
	}
	return last, err
}
