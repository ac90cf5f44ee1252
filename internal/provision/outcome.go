package provision

import (
	"context"
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/diagnose"
	"github.com/berthdev/berth/internal/fault"
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

// ending is how far a run got.
type ending struct {
	found   inventory.Found // before the run created anything
	result  deploy.Result   // what it created
	reading v1.Snapshot     // the newest
	pod     *corev1.Pod     // nil without one, or if the pods are a workload's
	job     string          // that the workspace belongs to
	left    v1.Left         // empty if it follows from the rest
}

// end makes the outcome of how far a run got.
func (s provisioning) end(ctx context.Context, in inputs, e ending, err error) (Outcome, error) {
	err = interrupted(ctx, in.deployment.About, e, err)
	return s.outcome(ctx, in, e, err), err
}

// logTime is how long the last lines of a failed container are waited for.
const logTime = 3 * time.Second

func (s provisioning) outcome(ctx context.Context, in inputs, e ending, err error) Outcome {
	o := Outcome{Workspace: s.workspace(in, e), Left: leftBy(e, err)}
	s.scripts.Describe(o.Workspace)
	if fault.ReasonOf(err) == deploy.ReasonScript {
		o.Logs = s.scripts.Tail()
		return o
	}
	if code := fault.CodeOf(err); code == fault.Failed || code == fault.DeadlineExceeded {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), logTime)
		defer cancel()
		o.Logs = diagnose.Logs(ctx, s.Client, s.Client.Namespace, failedPod(s.id, e.reading), e.reading.Cause)
	}
	return o
}

// workspace is the document of the workspace, as far as it is known.
func (s provisioning) workspace(in inputs, e ending) *v1.Workspace {
	w := &v1.Workspace{
		ID: s.id, Namespace: s.Client.Namespace, UserString: s.user.String(),
		Owner: s.user.User, Blueprint: in.deployment.Spec.Blueprint.Name, JobID: e.job,
		Workload: s.user.Workload.String(), Snapshot: e.reading, Drift: in.drift,
		Timing: s.steps.Timing(s.Client.Requests.Count()),
	}
	if s.update != nil {
		update := *s.update
		if e.result.Record != nil {
			update.Revision = e.result.Record.Version
		}
		w.Update = &update
	}
	if e.pod != nil {
		w.CreatedAt = e.pod.CreationTimestamp.UTC()
	}
	if w.Stage == "" {
		w.Stage, w.Status = v1.StageUnknown, v1.StatusUnknown
	}
	return w
}

// alreadyRunning ends a run that has nothing to do.
func (s provisioning) alreadyRunning(in inputs) (Outcome, error) {
	w := in.found.Describe(s.id, s.Client.Namespace)
	w.Drift = in.drift
	return Outcome{Workspace: &w}, fault.New(fault.AlreadyExists, "workspace %s is already running", s.id).
		WithHint("enter it with `berth exec %s`, or pass --if-not-exists", fault.Word(s.user.String()))
}

// leftBy is what is there after a run that gave up, as far as it is known.
func leftBy(e ending, err error) v1.Left {
	switch fault.CodeOf(err) {
	case fault.Failed, fault.DeadlineExceeded, fault.Interrupted, fault.Terminated:
	default:
		return ""
	}
	if e.left == "" && (e.result.Changes.Any() || e.found.Record != nil || e.pod != nil) {
		return v1.LeftKept
	}
	return e.left
}

// interrupted gives a run that its context ended the reason for that, the
// time-out or the signal, and how far it got.
func interrupted(ctx context.Context, about deploy.About, e ending, err error) error {
	why, ended := reason(ctx, err)
	if !ended {
		return err
	}
	if why.Code == fault.DeadlineExceeded {
		detail := soFar(e)
		if ignored := e.reading.Ignored; len(ignored) > 0 {
			detail += "; ignored on request: " + strings.Join(ignored, ", ")
		}
		why.WithDetail(detail).Hint = about.Hint(e.reading)
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
func soFar(e ending) string {
	s, why := e.reading, e.reading.Message
	if s.Cause != nil {
		why = s.Cause.Message
	}
	switch {
	case s.Stage == "" && e.result.Changes.Any():
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
