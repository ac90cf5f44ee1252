package provision

import (
	"cmp"
	"context"
	"errors"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/diagnose"
	"github.com/berthdev/berth/internal/event"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/lock"
	"github.com/berthdev/berth/internal/provision/deploy"
	"github.com/berthdev/berth/internal/provision/inventory"
	"github.com/berthdev/berth/internal/watch/follow"
)

// follow follows the workspace until it runs or is certain not to. Meanwhile Helm's
// record is completed, which has to be done before the lock is released.
func (s session) follow(ctx context.Context, d deploy.Deployment, at progress) (v1.Snapshot, error) {
	if s.NoWait {
		reading := d.About.Explain(at.result.Reading)
		s.steps.Reached(reading)
		return reading, s.complete(ctx, d, at.turn.Plan, at.result)
	}
	var completeErr error
	completed := make(chan struct{})
	following, stop := context.WithCancel(ctx)
	defer stop()
	go func() {
		defer close(completed)
		completeErr = s.complete(ctx, d, at.turn.Plan, at.result)
		if errors.Is(completeErr, lock.ErrTaken) {
			stop() // what is followed is not what it was
		}
	}()
	reading, err := s.report(following, d.About, at.turn.Follower, at.job, func() {
		go func() { // nothing is done about the workspace any more
			<-completed
			if completeErr == nil {
				deploy.Release(ctx, at.turn.Lock)
			}
		}()
	})
	<-completed
	if err == nil || errors.Is(completeErr, lock.ErrTaken) {
		err = completeErr
	}
	return reading, err
}

// complete completes the records: Helm's, and of one that was created its desired state,
// too, of which an earlier workspace of the name may have left a record.
func (s session) complete(ctx context.Context, d deploy.Deployment, plan deploy.Plan, result deploy.Result) error {
	if plan != deploy.Create {
		return s.target.Complete(ctx, d, result)
	}
	recorded := make(chan error, 1)
	go func() {
		_, err := s.state().SetRunning(ctx, s.user, deploy.Turn{Plan: plan}, d)
		recorded <- err
	}()
	err := s.target.Complete(ctx, d, result)
	if recordErr := <-recorded; recordErr != nil && ctx.Err() == nil {
		s.notRecorded(recordErr)
	}
	return err
}

// report reports on the workspace, and on its init scripts, until it runs or is certain not
// to. The job is that of its pods; empty if it is not known. Done is called once it runs,
// before the end of the logs of its scripts, unless what they say decides.
func (s session) report(ctx context.Context, about deploy.About, follower *follow.Follower, job string,
	done func(),
) (reading v1.Snapshot, err error) {
	var changed error
	following, stop := context.WithCancel(ctx)
	defer stop()
	s.scripts.Begin(stop)
	err = follower.Run(following, s.Policy.Waiting(s.Now()), s.Now, func(c follow.Change) (done bool) {
		state := follower.State()
		if changed = s.target.Still(state); changed != nil {
			return true
		}
		if s.Intent == nil { // or nobody would look at it
			s.scripts.Look(following, state, job)
		}
		reading = s.steps.Changed(c, about)
		return reading.Verdict() != v1.VerdictWaiting
	})
	runs := err == nil && changed == nil && reading.Verdict() == v1.VerdictRunning
	stopped := following.Err() != nil && ctx.Err() == nil
	if runs && !s.scripts.Strict(nil) {
		done()
	}
	s.scripts.End(stop, runs)
	switch {
	case runs || stopped:
		return reading, s.scripts.Failure(s.id, s.Client.Namespace)
	case err != nil || changed != nil:
		return s.scripts.Explain(reading), cmp.Or(err, changed)
	}
	return reading, about.Failure(reading, s.Policy)
}

// Await follows a workspace that exists until it runs or is certain not to, as Provision
// does after it has created one, and reports on the stream. It changes nothing. The
// outcome is also returned with an error.
func (p *Provisioner) Await(ctx context.Context, t *inventory.Target, stream *event.Stream) (Outcome, error) {
	s := p.in(t.Namespace).session(t.ID, t.Found.WorkloadRef(), stream)
	ctx, stop := context.WithCancel(ctx) // the watches end with it
	defer stop()
	about := deploy.AboutPods(t.ID, t.Namespace, t.Found.UserString(), t.Found.Pods())
	follower, err := s.target.Watch(ctx, t.Found, deploy.Deployment{Objects: t.Found.Claims(), About: about})
	if err != nil {
		return Outcome{}, interrupted(ctx, about, progress{}, err)
	}
	defer follower.Close()
	reading, err := s.report(ctx, about, follower, t.Found.Job(), func() {})
	err = leaves(reading, err)
	end := progress{found: t.Found, reading: reading}
	err = s.scripts.Advise(interrupted(ctx, about, end, err), t.ID, t.Namespace)
	w := t.Found.Describe(t.ID, t.Namespace)
	w.Snapshot, w.Timing = reading, s.steps.Timing(s.Client.Requests.Count())
	s.scripts.Describe(&w)
	if w.Stage == "" {
		w.Stage, w.Status = v1.StageUnknown, v1.StatusUnknown
	}
	out := Outcome{Workspace: &w}
	if fault.CodeOf(err) == fault.Failed {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), logTime)
		defer cancel()
		out.Logs = diagnose.Logs(ctx, s.Client, t.Namespace, failedPod(t.ID, reading), reading.Cause)
	}
	return out, err
}

// leaves is the error of following a workspace that is not provisioned here: its pod is deleted meanwhile, or was being
// deleted all along.
func leaves(reading v1.Snapshot, err error) error {
	if fault.CodeOf(err) != fault.Failed || reading.Cause != nil {
		return err
	}
	switch reading.Verdict() {
	case v1.VerdictTerminating:
		return fault.New(fault.Failed, "the pod is being deleted")
	case v1.VerdictGone:
		return fault.New(fault.Failed, "the pod was deleted")
	}
	return err
}
