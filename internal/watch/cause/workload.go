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

func workload() []entry {
	return []entry{
		{
			code: JobSuspended,
			hint: "The job has pods only once it is resumed: `kubectl patch job {name}{ns} --type merge --patch '{\"spec\":{\"suspend\":false}}'`. " +
				"If a queue such as Kueue suspends it, that resumes it when there is room.",
			explanation: explanation{
				title:   "The job is suspended",
				meaning: "spec.suspend of the job says that it has no pods for now. A person or a queue has set it.",
				signs: []string{
					"the job's condition Suspended is True",
					"events Suspended about the job",
				},
				remedies: []string{
					"Resume it: set spec.suspend to false.",
					"If a queue has suspended it, see what that waits for.",
				},
				passes:  "It passes when a queue that has suspended it has room.",
				example: "workload/suspended",
			},
		},
		{
			code: RolloutPaused,
			hint: "The deployment makes no pods of its newest revision until it is resumed: `kubectl rollout resume deployment/{name}{ns}`.",
			explanation: explanation{
				title:   "The deployment is paused",
				meaning: "spec.paused of the deployment says that no pods of its newest revision are made. Those of the revision before go on.",
				signs: []string{
					"the deployment's condition Progressing has the reason DeploymentPaused",
				},
				remedies: []string{
					"Resume it: kubectl rollout resume.",
				},
				example: "workload/paused",
			},
		},
		{
			code: RevisionBlocked,
			hint: "A StatefulSet replaces one pod after the other, and waits for each to be ready. It does not replace one that was not: " +
				"once the update is as it should be, delete pod {name}, and it comes back with the newest revision.",
			explanation: explanation{
				title:   "A pod of the revision before blocks the update",
				meaning: "A StatefulSet replaces its pods one after the other, and does not go on while one of them is not ready, not even if that one is of the revision that is to be replaced.",
				signs: []string{
					"the StatefulSet's updateRevision is not its currentRevision",
					"a pod of the revision before is not ready",
				},
				remedies: []string{
					"Delete that pod once the update is right: it is made again of the newest revision.",
				},
				passes:  "It passes if the pod becomes ready after all.",
				example: "workload/old-revision-blocks",
			},
		},
	}
}

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
