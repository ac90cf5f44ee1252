package cause

import (
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/kube"
	"github.com/berthdev/berth/internal/watch/evidence"
)

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
