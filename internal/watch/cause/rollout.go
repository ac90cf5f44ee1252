package cause

import (
	"fmt"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/english"
	"github.com/berthdev/berth/internal/kube"
	"github.com/berthdev/berth/internal/watch/evidence"
)

// The causes for which a workload does not get on, beside those of its pods. A
// deadline that has passed fails nothing: the pods may still become ready.
const (
	ProgressDeadline = "ProgressDeadlineExceeded"
	JobFailed        = "JobFailed"
)

// OfDeployment is a Deployment's own cause; nil if it has none.
func OfDeployment(d *appsv1.Deployment) *Finding {
	for _, c := range d.Status.Conditions {
		if c.Type == appsv1.DeploymentProgressing && c.Reason == ProgressDeadline {
			return &Finding{Cause: v1.Cause{
				Code: ProgressDeadline, Message: c.Message,
				Object: kube.Object("Deployment", d.Name),
			}}
		}
	}
	return nil
}

// IsConsequence is true for a cause that only says that the pods do not get on: what keeps
// one of them says more.
func (f Finding) IsConsequence() bool { return f.Code == ProgressDeadline }

// OfFailedJob is the cause of a Job that has the condition Failed: how its last pod
// ended, if that is known.
func OfFailedJob(job *batchv1.Job, c batchv1.JobCondition, last *evidence.Pod) *v1.Cause {
	gave := &v1.Cause{Code: JobFailed, Message: c.Reason + ": " + c.Message, Object: kube.Object("Job", job.Name)}
	if last == nil || c.Reason == batchv1.JobReasonDeadlineExceeded {
		return gave
	}
	f := OfFailed(*last, DefaultPolicy())
	end := f.Cause
	end.Message = fmt.Sprintf("%s: the job gave up after %s; the last, %s: %s", c.Reason,
		english.Plural(max(1, int(job.Status.Failed)), "failed pod"), last.Name, f.Message)
	end.Object = last.Ref()
	if end.Code == ContainerExited || end.Code == PodFailed {
		end.Code = JobFailed
	}
	return &end
}

// OfRetriedJob is how the last pod of a Job ended that has none at the moment, and will
// make another one.
func OfRetriedJob(last evidence.Pod) *Finding {
	f := OfFailed(last, DefaultPolicy())
	f.Object, f.Passes = last.Ref(), true
	f.Message = "pod " + last.Name + ": " + f.Message + "; the job makes another one"
	f.Begun = evidence.Later(f.Begun, last.EndedAt())
	return &f
}

// gaveUp says why a job makes no more pods, and where to look.
func gaveUp(c v1.Cause, a About) string {
	redo := "Correct that, delete the job and apply it again."
	name, isJob := strings.CutPrefix(c.Object, "job/")
	switch {
	case !isJob:
		return exitText(c.ExitCode) + " " + a.lastWords(c) + " " + redo
	case strings.HasPrefix(c.Message, batchv1.JobReasonDeadlineExceeded):
		return "The job took longer than activeDeadlineSeconds permits, and its pods were ended. Raise that, or see what it waited for; then delete the job and apply it again."
	case strings.HasPrefix(c.Message, batchv1.JobReasonPodFailurePolicy):
		return "A rule of the job's podFailurePolicy ends it at such an exit code, as trying again would not help: the program's documentation says what the code means. " + redo
	}
	return fmt.Sprintf("The job has given up after its retries (backoffLimit). `kubectl logs%s --selector job-name=%s` shows the logs of its pods, as long as they are there. %s", a.option(), name, redo)
}

// The causes for which a workload makes no pods, though nothing is wrong: somebody
// has said so, or another pod has to come first.
const (
	JobSuspended    = "JobSuspended"    // spec.suspend
	RolloutPaused   = "RolloutPaused"   // spec.paused
	RevisionBlocked = "RevisionBlocked" // a StatefulSet's pod of the revision before is not ready
)

// OfSuspendedJob is a Job that was told to wait; nil for one that was not.
func OfSuspendedJob(job *batchv1.Job) *Finding {
	if job.Spec.Suspend == nil || !*job.Spec.Suspend {
		return nil
	}
	f := Finding{Begun: job.CreationTimestamp.Time, Cause: v1.Cause{
		Code: JobSuspended, Message: "the job is suspended", Object: kube.Object("Job", job.Name),
	}}
	for _, c := range job.Status.Conditions {
		if c.Type == batchv1.JobSuspended && c.Status == corev1.ConditionTrue {
			f.Reason, f.Begun = c.Reason, c.LastTransitionTime.Time
		}
	}
	return &f
}

// OfPausedDeployment is a Deployment that was told to wait with its newest revision;
// nil for one that was not.
func OfPausedDeployment(d *appsv1.Deployment) *Finding {
	if !d.Spec.Paused {
		return nil
	}
	f := Finding{Begun: d.CreationTimestamp.Time, Cause: v1.Cause{
		Code: RolloutPaused, Message: "the deployment is paused", Object: kube.Object("Deployment", d.Name),
	}}
	for _, c := range d.Status.Conditions {
		if c.Type == appsv1.DeploymentProgressing && c.Reason == "DeploymentPaused" {
			f.Begun = c.LastTransitionTime.Time
		}
	}
	return &f
}

// OfBlockedRevision is the pod of a StatefulSet's revision before that is not ready,
// which is why it is not replaced.
func OfBlockedRevision(p evidence.Pod) *Finding {
	message := p.Name + " of the revision before is not ready, and blocks the update"
	if f := OfUnready(p); f != nil {
		message += ": " + f.Message
	}
	f := ofPod(p, RevisionBlocked, message)
	f.Begun = p.ProgressedAt()
	return f
}
