package desired

import (
	"context"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/lifecycle"
)

// ObserveStart records how far a run has brought a workspace that is meant to run: to this reading, empty if
// there is none. A workspace that was refused has nothing on the cluster.
func (s State) ObserveStart(ctx context.Context, known lifecycle.Record, reading v1.Snapshot, refused bool, err error) {
	switch failed := fault.CodeOf(err) == fault.Failed; {
	case failed && refused:
		s.setObserved(ctx, known, v1.ActualError, fault.From(err).Message)
	case reading.Stage != "" && (err == nil || failed):
		actual, cause := lifecycle.Seen{Pods: true, Reading: reading}.Of(known)
		s.setObserved(ctx, known, actual, cause)
	case failed:
		s.setObserved(ctx, known, v1.ActualError, fault.From(err).Message)
	}
}

// ObserveStop records how a stop has ended.
func (s State) ObserveStop(ctx context.Context, known lifecycle.Record, gone bool, err error) {
	switch {
	case gone:
		s.setObserved(ctx, known, v1.ActualStopped, "")
	case err == nil:
		s.setObserved(ctx, known, v1.ActualStopping, "")
	case fault.CodeOf(err) == fault.Failed:
		s.setObserved(ctx, known, v1.ActualError, fault.From(err).Message)
	}
}

// setObserved records what has become of what was wanted, unless somebody has wanted something
// else since. If that fails, the loop or the next command finds out.
func (s State) setObserved(ctx context.Context, known lifecycle.Record, actual v1.ActualState, cause string) {
	if known.ID == "" || s.Intent != nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), recordTime)
	defer cancel()
	now := s.now()
	_, _ = s.records().ChangeFrom(ctx, s.ID, known, func(r lifecycle.Record) (lifecycle.Record, error) {
		if r.Incarnation != known.Incarnation || r.Changed != known.Changed {
			return r, nil
		}
		return r.Observed(actual, cause, now), nil
	})
}

// Forget deletes the record of a workspace that is gone. If that fails, the loop does it, or
// anyone who provisions the workspace again.
func (s State) Forget(ctx context.Context, r lifecycle.Record) {
	if r.ID == "" || s.Intent != nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), recordTime)
	defer cancel()
	s.deleteRecord(ctx, r)
}

// DeleteStale deletes whatever is recorded of a workspace that is gone.
func (s State) DeleteStale(ctx context.Context) {
	if !s.IsKept() {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, recordTime)
	defer cancel()
	r, err := s.Read(ctx)
	if fault.ReasonOf(err) == lifecycle.ReasonUnreadable {
		r, err = lifecycle.Record{ID: s.ID}, nil
	}
	if err == nil && r.ID != "" {
		s.deleteRecord(ctx, r)
	}
}

// deleteRecord deletes a record, also if a loop has written into it meanwhile what it sees.
func (s State) deleteRecord(ctx context.Context, r lifecycle.Record) {
	const tries = 5
	for range tries {
		if fault.CodeOf(s.records().Delete(ctx, r)) != fault.Conflict {
			return
		}
		now, err := s.records().Get(ctx, r.ID)
		if err != nil || now.Incarnation != r.Incarnation || now.Desired != r.Desired {
			return
		}
		r = now
	}
}
