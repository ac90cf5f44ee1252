package cause

import (
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/kube"
)

// The causes for which a workload does not get on, beside those of its pods. A
// deadline that has passed fails nothing: the pods may still become ready.
const (
	ProgressDeadline = "ProgressDeadlineExceeded"
	JobFailed        = "JobFailed"
)

func rollout() []entry {
	return []entry{
		{
			code: ProgressDeadline,
			hint: "No new pod became ready for as long as progressDeadlineSeconds permits. Look at the pods themselves (`kubectl get pods{ns}`); " +
				"`kubectl rollout undo deployment/{name}{ns}` goes back to the revision before.",
		},
		{
			code: JobFailed,
			hint: "The job has given up after its retries (backoffLimit) or its time (activeDeadlineSeconds). " +
				"`kubectl logs{ns} --selector job-name={name}` shows the logs of its pods; delete the job and apply it again.",
		},
	}
}

// OfDeployment is a Deployment's own cause; nil if it has none.
func OfDeployment(d *appsv1.Deployment) *Finding {
	for _, c := range d.Status.Conditions {
		if c.Type == appsv1.DeploymentProgressing && c.Reason == ProgressDeadline {
			return &Finding{Cause: v1.Cause{Code: ProgressDeadline, Message: c.Message, Object: kube.Object("Deployment", d.Name)}}
		}
	}
	return nil
}

// OfFailedJob is the cause of a Job that has the condition Failed.
func OfFailedJob(job *batchv1.Job, c batchv1.JobCondition) *v1.Cause {
	return &v1.Cause{Code: JobFailed, Message: c.Reason + ": " + c.Message, Object: kube.Object("Job", job.Name)}
}
