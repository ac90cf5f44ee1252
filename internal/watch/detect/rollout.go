package detect

import (
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/kube"
	"github.com/berthdev/berth/internal/watch/cause"
)

// Deployment is a Deployment's own cause; nil if it has none.
func Deployment(d *appsv1.Deployment) *cause.Finding {
	for _, c := range d.Status.Conditions {
		if c.Type == appsv1.DeploymentProgressing && c.Reason == cause.ProgressDeadline {
			return &cause.Finding{Cause: v1.Cause{
				Code: cause.ProgressDeadline, Message: c.Message,
				Object: kube.Object("Deployment", d.Name),
			}}
		}
	}
	return nil
}

// PausedDeployment is a Deployment that was told to wait with its newest revision;
// nil for one that was not.
func PausedDeployment(d *appsv1.Deployment) *cause.Finding {
	if !d.Spec.Paused {
		return nil
	}
	f := cause.Finding{Begun: d.CreationTimestamp.Time, Cause: v1.Cause{
		Code: cause.RolloutPaused, Message: "the deployment is paused", Object: kube.Object("Deployment", d.Name),
	}}
	for _, c := range d.Status.Conditions {
		if c.Type == appsv1.DeploymentProgressing && c.Reason == "DeploymentPaused" {
			f.Begun = c.LastTransitionTime.Time
		}
	}
	return &f
}

// SuspendedJob is a Job that was told to wait; nil for one that was not.
func SuspendedJob(job *batchv1.Job) *cause.Finding {
	if job.Spec.Suspend == nil || !*job.Spec.Suspend {
		return nil
	}
	f := cause.Finding{Begun: job.CreationTimestamp.Time, Cause: v1.Cause{
		Code: cause.JobSuspended, Message: "the job is suspended", Object: kube.Object("Job", job.Name),
	}}
	for _, c := range job.Status.Conditions {
		if c.Type == batchv1.JobSuspended && c.Status == corev1.ConditionTrue {
			f.Reason, f.Begun = c.Reason, c.LastTransitionTime.Time
		}
	}
	return &f
}
