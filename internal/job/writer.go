package job

import (
	"cmp"
	"context"
	"errors"
	"time"

	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/kube"
	"github.com/berthdev/berth/internal/store"
)

// How records are written.
const (
	// endTime is how long the record may delay the end of a command.
	endTime = 2 * time.Second
	// writeTime is how long one attempt may take before that.
	writeTime = 2 * time.Second
	// pause is how long a write waits for more to come, such as the result right after the last stage, which ends it.
	pause = 200 * time.Millisecond
	// A failed write is tried again after a time that grows.
	retryFirst = 250 * time.Millisecond
	retryMost  = time.Second
)

// write writes the record until it is complete, and returns why it is not where it
// belongs. It does not wait for the clean-up, which the next command continues.
func (r *Recorder) write(ctx context.Context) error {
	cleaning, stop := context.WithCancel(ctx)
	defer stop()
	if !r.leaves {
		go r.stores.CleanUp(cleaning)
	}
	err := r.keep(ctx)
	if err == nil {
		return nil
	}
	<-r.final
	if r.stores.nats == nil {
		return fault.New(fault.CodeOf(err), "the job record was not written: %w", err)
	}
	ctx, cancel := context.WithTimeout(ctx, endTime)
	defer cancel()
	record, _ := r.snapshot()
	record, _ = r.resume(ctx, record, r.stores.cluster)
	if clusterErr := put(ctx, r.stores.pending(), record); clusterErr != nil {
		return fault.New(fault.CodeOf(err), "the job record was not written: %w; nor into the cluster: %w", err,
			clusterErr)
	}
	return fault.New(fault.CodeOf(err), "the job record is in the cluster until a command reaches NATS: %w", err)
}

// keep writes the newest state whenever the write before is done, and tries again if it has failed.
func (r *Recorder) keep(ctx context.Context) error {
	beat := time.NewTicker(heartbeat)
	defer beat.Stop()
	retry := retryFirst
	for {
		record, endBy := r.snapshot()
		err := r.attempt(ctx, record, cmp.Or(endBy, r.now().Add(writeTime)))
		final, isLast := r.final, !endBy.IsZero()
		if isLast {
			final = nil // between two attempts at the last write
		}
		switch {
		case err == nil && isLast:
			return nil
		case err == nil:
			retry = retryFirst
			select {
			case <-r.changed:
				sleep(pause, final)
			case <-beat.C:
			}
		case !mayPass(err), isLast && (fault.CodeOf(err) == fault.Unauthenticated || r.now().Add(retry).After(endBy)):
			return err // another login is not accepted within two seconds either
		default:
			sleep(retry, final)
			retry = min(2*retry, retryMost)
		}
	}
}

func (r *Recorder) attempt(ctx context.Context, record Record, endBy time.Time) error {
	ctx, cancel := context.WithDeadline(ctx, endBy)
	defer cancel()
	record, err := r.resume(ctx, record, r.stores.primary())
	if err == nil {
		err = put(ctx, r.stores.primary(), record)
	}
	if errors.Is(err, context.DeadlineExceeded) {
		return fault.New(fault.Unavailable, "there was no answer in time: %w", err)
	}
	return err
}

// resume adds the record to what an earlier run of the job has written.
func (r *Recorder) resume(ctx context.Context, record Record, in store.Store) (Record, error) {
	if r.resumed {
		earlier, err := get(ctx, in, record.ID)
		if err != nil && fault.CodeOf(err) != fault.NotFound && fault.ReasonOf(err) != ReasonUnreadable {
			return record, err // else there is nothing to continue
		}
		r.earlier, r.resumed = earlier, false
	}
	return record.After(r.earlier), nil
}

func put(ctx context.Context, in store.Store, r Record) error {
	most := maxSizeNATS
	if _, inCluster := in.(store.ConfigMaps); inCluster {
		most = MaxSize
		if r.apart {
			r = r.folded()
		}
	}
	text, err := r.Fit(most).Encode()
	if err != nil {
		return err
	}
	_, err = in.Put(ctx, store.Document{
		Key: r.ID, Value: text, Labels: map[string]string{kube.LabelCanonicalID: kube.LabelValue(r.WorkspaceName)},
	})
	return err
}

// mayPass is false for an error that another attempt does not mend.
func mayPass(err error) bool {
	switch fault.CodeOf(err) {
	case fault.PermissionDenied, fault.Failed, fault.InvalidArgument, fault.NotFound:
		return false
	}
	return true
}

// sleep waits, but no longer than until something ends it.
func sleep(d time.Duration, end <-chan struct{}) {
	select {
	case <-time.After(d):
	case <-end:
	}
}
