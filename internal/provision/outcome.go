package provision

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/diagnose"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/kube"
	"github.com/berthdev/berth/internal/provision/inventory"
)

// Outcome is how a provisioning ended.
type Outcome struct {
	// Workspace is nil if nothing was looked at or done.
	Workspace *v1.Workspace
	// Logs are the last words of the container that failed.
	Logs *v1.LogTail
	// Left is what became of the workspace, if it could not be brought up.
	Left v1.Left
	// Problems are what went wrong besides.
	Problems []string
}

// logTime is how long the last words of a failed container are waited for.
const logTime = 3 * time.Second

// outcome collects what there is to say at the end.
func (r *run) outcome(ctx context.Context, err error) Outcome {
	switch {
	case r.final != nil:
		return *r.final
	case fault.CodeOf(err) == fault.AlreadyExists && r.found.Pod != nil:
		w := inventory.Describe(&r.found.Pod.ObjectMeta, r.found.Reading)
		return Outcome{Workspace: &w}
	case fault.CodeOf(err) == fault.AlreadyExists && r.found.Workload != nil:
		r.latest = r.found.Reading
		return Outcome{Workspace: r.workspace()}
	case r.follower == nil && err != nil:
		return Outcome{} // it did not get as far as the workspace
	}
	o := Outcome{Workspace: r.workspace()}
	o.Left = r.left(err, o.Workspace)
	if code := fault.CodeOf(err); code == fault.Failed || code == fault.DeadlineExceeded {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), logTime)
		defer cancel()
		o.Logs = diagnose.Logs(ctx, r.Client, r.namespace, r.failedPod(), r.latest.Cause)
	}
	return o
}

// workspace is the run's workspace as far as it is known.
func (r *run) workspace() *v1.Workspace {
	w := &v1.Workspace{
		TypeMeta: v1.Kind(v1.KindWorkspace),
		ID:       r.id, Namespace: r.namespace, UserString: r.user.String(),
		Owner: r.user.User, Blueprint: r.blueprint.Name, JobID: r.jobID,
		Snapshot: r.latest,
		Timing:   r.steps.total(r.Client.Requests.Count()),
	}
	if r.found.Workload != nil {
		w.Workload, w.JobID = r.found.Workload.Ref.String(), cmp.Or(r.found.Workload.Job(), r.jobID)
	}
	var pod *corev1.Pod
	if r.follower != nil {
		pod, _ = r.follower.State().Pod()
	}
	if pod == nil && r.NoWait {
		pod = r.found.Pod // its watch may not have told of it yet
	}
	if pod != nil {
		w.CreatedAt = pod.CreationTimestamp.UTC()
		w.JobID = pod.Labels[kube.LabelJobID]
	}
	if w.Stage == "" {
		w.Stage, w.Status = v1.StageUnknown, v1.StatusUnknown
	}
	return w
}

// failure is the error of a workspace that will not run.
func (r *run) failure(s v1.Snapshot) error {
	err := fault.New(fault.Failed, "the workspace is %s", s.Stage)
	switch {
	case s.Cause != nil:
		err.Message = s.Cause.Message
	case s.Verdict() == v1.VerdictTerminating, s.Verdict() == v1.VerdictGone:
		err.Message = "somebody deleted the pod while it was being provisioned"
	}
	return err.WithHint("%s", r.hint(s))
}

// ended gives a run that its context ended the reason of that: the time-out or
// the signal, and how far it was.
func (r *run) ended(ctx context.Context, err error) error {
	if err == nil || ctx.Err() == nil {
		return err
	}
	why := *fault.From(context.Cause(ctx))
	if why.Code == fault.DeadlineExceeded {
		why.Message = fmt.Sprintf("%s: %s", why.Message, r.soFar())
		if ignored := r.latest.Ignored; len(ignored) > 0 {
			why.Message += "; ignored on request: " + strings.Join(ignored, ", ")
		}
		why.Hint = r.hint(r.latest)
	}
	return &why
}

// soFar is the stage and the cause as far as it is known.
func (r *run) soFar() string {
	switch s := r.latest; {
	case s.Stage == "" && r.creation.any():
		return "not all of it is created yet"
	case s.Stage == "":
		return "nothing is installed yet"
	case s.Cause != nil:
		return fmt.Sprintf("still %s: %s", s.Stage, s.Cause.Message)
	case s.Message != "":
		return fmt.Sprintf("still %s: %s", s.Stage, s.Message)
	default:
		return fmt.Sprintf("still %s", s.Stage)
	}
}

// failedPod is the pod that the cause is about.
func (r *run) failedPod() string {
	if r.latest.Cause != nil && r.found.Workload != nil {
		if pod, ok := strings.CutPrefix(r.latest.Cause.Object, "pod/"); ok {
			return pod
		}
	}
	return r.id
}
