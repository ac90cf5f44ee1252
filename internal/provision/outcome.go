package provision

import (
	"context"
	"fmt"
	"strings"
	"time"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/diagnose"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/lifecycle"
	"github.com/berthdev/berth/internal/provision/deploy"
	"github.com/berthdev/berth/internal/provision/inventory"
)

// Outcome is how a provisioning ended.
type Outcome struct {
	// Workspace is nil if nothing was looked at or done.
	Workspace *v1.Workspace
	// Logs are the last lines of the container that failed.
	Logs *v1.LogTail
	// Left is what became of the workspace, if it could not be brought up.
	Left v1.Left
	// Problems are what else went wrong.
	Problems []string
}

// logTime is how long the last lines of a failed container are waited for.
const logTime = 3 * time.Second

func (s session) outcome(ctx context.Context, dec decision, at progress, err error) Outcome {
	o := Outcome{Workspace: s.workspace(dec, at), Left: leftBy(at, err)}
	s.scripts.Describe(o.Workspace)
	if fault.ReasonOf(err) == deploy.ReasonScript {
		o.Logs = s.scripts.Tail()
		return o
	}
	if code := fault.CodeOf(err); code == fault.Failed || code == fault.DeadlineExceeded {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), logTime)
		defer cancel()
		o.Logs = diagnose.Logs(ctx, s.Client, s.Client.Namespace, failedPod(s.id, at.reading), at.reading.Cause)
	}
	return o
}

// workspace is the document of the workspace, as far as it is known.
func (s session) workspace(dec decision, at progress) *v1.Workspace {
	w := &v1.Workspace{
		ID: s.id, Namespace: s.Client.Namespace, UserString: s.user.String(),
		Owner: s.user.User, Blueprint: dec.deployment.Spec.Blueprint.Name, JobID: at.job,
		Workload: s.user.Workload.String(), Snapshot: at.reading, Drift: dec.drift,
		Timing: s.steps.Timing(s.Client.Requests.Count()),
	}
	if s.update != nil {
		update := *s.update
		if at.result.Record != nil {
			update.Revision = at.result.Record.Version
		}
		w.Update = &update
	}
	if at.pod != nil {
		w.CreatedAt = at.pod.CreationTimestamp.UTC()
	}
	if w.Stage == "" {
		w.Stage, w.Status = v1.StageUnknown, v1.StatusUnknown
	}
	return w
}

// alreadyRunning ends a run that has nothing to do.
func (s session) alreadyRunning(dec decision) (Outcome, error) {
	w := dec.found.Describe(s.id, s.Client.Namespace)
	w.Drift = dec.drift
	return Outcome{Workspace: &w}, fault.New(fault.AlreadyExists, "workspace %s is already running", s.id).
		WithHint("enter it with `berth exec %s`, or pass --if-not-exists", fault.Word(s.user.String()))
}

// leftBy is what is there after a run that gave up, as far as it is known.
func leftBy(at progress, err error) v1.Left {
	switch fault.CodeOf(err) {
	case fault.Failed, fault.DeadlineExceeded, fault.Interrupted, fault.Terminated:
	default:
		return ""
	}
	if at.left == "" && (at.result.Changes.Any() || at.found.Record != nil || at.pod != nil) {
		return v1.LeftKept
	}
	return at.left
}

// interrupted gives a run that its context ended the reason for that, the
// time-out or the signal, and how far it got.
func interrupted(ctx context.Context, about deploy.About, at progress, err error) error {
	why, ended := reason(ctx, err)
	if !ended {
		return err
	}
	if why.Code == fault.DeadlineExceeded {
		detail := soFar(at)
		if ignored := at.reading.Ignored; len(ignored) > 0 {
			detail += "; ignored on request: " + strings.Join(ignored, ", ")
		}
		why.WithDetail(detail).Hint = about.Hint(at.reading)
	}
	return why
}

// reason is why the context ended, the time-out or the signal, if an error came of
// that. It is a copy that may be completed.
func reason(ctx context.Context, err error) (why *fault.Error, ended bool) {
	if err == nil || ctx.Err() == nil {
		return nil, false
	}
	return new(*fault.From(context.Cause(ctx))), true
}

// soFar is the stage, and its cause if it is known.
func soFar(at progress) string {
	s, why := at.reading, at.reading.Message
	if s.Cause != nil {
		why = s.Cause.Message
	}
	switch {
	case s.Stage == "" && at.result.Changes.Any():
		return "not all of it is created yet"
	case s.Stage == "":
		return "nothing is installed yet"
	case why == "":
		return fmt.Sprintf("still %s", s.Stage)
	}
	return fmt.Sprintf("still %s: %s", s.Stage, why)
}

// failedPod is the pod that the cause is about: of a workload, one of its pods.
func failedPod(id string, s v1.Snapshot) string {
	if s.Cause != nil {
		if pod, ok := strings.CutPrefix(s.Cause.Object, "pod/"); ok {
			return pod
		}
	}
	return id
}

// alreadyUpToDate ends a run that has nothing to do, as the workspace runs. If it was not meant to, a
// stop of it may be under way, or may have been killed: then it is meant to run from now on,
// unless the stop was faster. One that is to be deleted stays so.
func (s session) alreadyUpToDate(ctx context.Context, dec decision) (Outcome, error) {
	if err := s.stay(ctx); err != nil {
		return Outcome{}, interrupted(ctx, nil, progress{}, err)
	}
	o, err := s.alreadyRunning(dec)
	if failed := s.past(ctx, dec.found, o.Workspace); failed != nil {
		return Outcome{Workspace: o.Workspace, Logs: s.scripts.Tail(), Left: v1.LeftKept}, failed
	}
	return o, err
}

// past is the failure of the init scripts of a workspace that runs, where that counts: they
// may have failed while nobody looked, or another run has said so.
func (s session) past(ctx context.Context, found inventory.Found, w *v1.Workspace) error {
	if !s.scripts.Strict(found.Pods()) {
		return nil
	}
	s.ReadScripts(ctx, found, w)
	s.scripts.Seen(*w)
	return s.scripts.Failure(s.id, s.Client.Namespace)
}

func (s session) stay(ctx context.Context) error {
	if !s.state().IsKept() || s.Intent != nil {
		return nil
	}
	r, err := s.state().ReadInTime(ctx)
	switch {
	case err != nil:
		s.notRecorded(err)
		return nil
	case r.ID == "" || r.Desired == v1.DesiredRunning:
		return nil
	case r.Desired == v1.DesiredTerminated:
		return lifecycle.BeingDeleted(r)
	}
	held, err := s.lockFor(ctx, deploy.ForProvisioning)
	if err != nil {
		return err
	}
	defer deploy.Release(ctx, held)
	found, err := s.lookup(ctx)
	if err != nil {
		return err
	}
	if s.target.Decide(found, deploy.Deployment{}) != deploy.Refuse {
		return fault.New(fault.Conflict, "workspace %s was stopped meanwhile", s.id).
			WithHint("start it: `%s`", fault.Command("berth", "start", s.user.String()))
	}
	return s.state().SetStillRunning(ctx, held)
}

// notRecorded warns about a record that could not be written, and that nothing else depends on.
func (s session) notRecorded(err error) {
	s.steps.Warn("NotRecorded", "", "it is not recorded that the workspace is meant to run: "+err.Error())
}

// OnFailure says what becomes of what a provisioning created that failed or timed
// out.
type OnFailure string

// What can become of it. The default is to keep it, so that it can be examined.
const (
	KeepOnFailure   OnFailure = "keep"
	DeleteOnFailure OnFailure = "delete"
)

// undoTime is how long removing what was created may take. Its pod, which may
// have a grace period, is waited for within that.
const undoTime = 60 * time.Second

// cleansUp says whether what was created is removed. An interruption keeps it, and so does
// what is not waited for any longer. What is in the way of the owner of storage with the same
// ID goes in any case.
func (p *Provisioner) cleansUp(at progress, err error) bool {
	code := fault.CodeOf(err)
	switch fault.ReasonOf(err) {
	case deploy.ReasonStorageOfAnother:
		return at.result.Changes.Any()
	case deploy.ReasonStuck:
		return false
	}
	return (code == fault.Failed || code == fault.DeadlineExceeded) && p.OnFailure == DeleteOnFailure &&
		at.result.Changes.Any()
}

// cleanUpOnFailure removes what this run created, while it still holds the lock.
// What there is to say about the failure is collected before.
func (s session) cleanUpOnFailure(ctx context.Context, dec decision, at progress, failure error) (Outcome, error) {
	o := s.outcome(ctx, dec, at, failure)
	o.Left = v1.LeftDeleted
	err := s.steps.Do("remove", func() (string, error) { return s.undo(ctx, dec.deployment, at) })
	switch {
	case err != nil:
		o.Left, o.Problems = v1.LeftKept, []string{err.Error()}
	case !dec.found.Exists(): // nothing is to be there
		s.state().DeleteStale(context.WithoutCancel(ctx))
	}
	return o, failure
}

// undo removes what this run created. The time-out that may have ended the run
// does not count for it, nor does an interruption: a second one exits at once.
func (s session) undo(ctx context.Context, d deploy.Deployment, at progress) (string, error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), undoTime)
	defer cancel()
	ctx, release := at.turn.Lock.Context(ctx)
	defer release()
	if err := at.turn.Lock.Confirm(ctx); err != nil {
		return "", fmt.Errorf("what was created was not removed: %w", err)
	}
	return s.target.Undo(ctx, at.turn, d, at.result)
}

// withdrawTime is how long a run that has lost its lock cleans up.
const withdrawTime = 10 * time.Second

// withdraw removes what a run created before it lost the lock, as far as nobody else
// has taken it up. What cannot be removed is found by the next run.
func (s session) withdraw(ctx context.Context, d deploy.Deployment, at progress) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), withdrawTime)
	defer cancel()
	if err := s.target.Withdraw(ctx, at.turn, d, at.result); err != nil {
		s.steps.Warn("NotWithdrawn", "", "something that this run has created may be left: "+err.Error())
	}
}
