package provision

import (
	"context"
	"errors"
	"testing"
	"time"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/lock"
	"github.com/berthdev/berth/internal/release"
)

// Who does not wait is told the job of who is at it: never one's own, of which
// there will be no record.
func TestNoWaitNamesTheJobAtWork(t *testing.T) {
	for _, test := range []struct {
		name             string
		pod              string // the job of the pod that is there; empty for no pod
		stage            v1.Stage
		locked, expected string
	}{
		{"nothing is there yet", "", "", "theirs", "theirs"},
		{"a lock without a job", "", "", "", ""},
		{"a pod on its way", "older", v1.StageStarting, "theirs", "older"},
		{"a pod that they replace", "older", v1.StageFailed, "theirs", "theirs"},
		{"a pod that is going", "older", v1.StageTerminating, "theirs", "theirs"},
		{"a pod that runs by now", "older", v1.StageRunning, "theirs", "older"},
	} {
		f := pod(test.stage)
		if test.pod == "" {
			f.Pod = nil
		} else {
			f.Pod.Labels = map[string]string{"k8shell.io/job-id": test.pod}
		}
		if got := jobAtWork(f, decide(f, false), &lock.Observed{Job: test.locked}); got != test.expected {
			t.Errorf("%s: %q, want %q", test.name, got, test.expected)
		}
	}
}

func TestNoWaitBesideAnother(t *testing.T) {
	r := runOn(t, nil)
	r.NoWait, r.jobID = true, "mine"
	other := r.locker(provisioning)
	other.Self, other.Job = lock.Holder{User: "bob", Host: "elsewhere", PID: 1, Started: "1", Nonce: "x"}, "theirs"
	held, _, err := other.Try(t.Context(), id, nil)
	if err != nil || held == nil {
		t.Fatal(held, err)
	}
	defer held.Release(t.Context())
	r.found.Version = "1"
	mine, _, err := r.acquire(t.Context(), install)
	if err != nil || mine != nil {
		t.Fatal(mine, err)
	}
	if w := r.outcome(t.Context(), nil).Workspace; w == nil || w.JobID != "theirs" {
		t.Errorf("%+v", w)
	}
}

// What a time-out says, whatever is there by then; and what counts as made.
func TestWhatATimeoutSays(t *testing.T) {
	ctx, cancel := context.WithTimeoutCause(t.Context(), 0, fault.New(fault.DeadlineExceeded, "timed out after 1s"))
	defer cancel()
	<-ctx.Done()
	r := runOn(t, nil)
	if err := r.ended(ctx, ctx.Err()); err.Error() != "timed out after 1s: nothing is installed yet" || r.creation.any() {
		t.Errorf("before anything is written: %v", err)
	}
	if _, err := r.record(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := r.ended(ctx, ctx.Err()); err.Error() != "timed out after 1s: not all of it is created yet" || !r.creation.any() {
		t.Errorf("with the record alone: %v", err)
	}
	// Once all is created the record is completed, though the time is over.
	record := release.NewRecord(id, "dev", r.rendered, time.Now())
	if err := r.deployed(ctx, record); err != nil {
		t.Error(err)
	}
	r.creation = creation{}
	if _, err := r.record(t.Context()); !errors.Is(err, release.ErrExists) || r.creation.any() {
		t.Errorf("somebody else's record: %v", err)
	}
}
