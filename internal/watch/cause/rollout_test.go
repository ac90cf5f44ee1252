package cause

import (
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/berthdev/berth/api/v1"
)

func TestRollout(t *testing.T) {
	d := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Name: "web"}}
	compare(t, OfDeployment(d), "")
	d.Status.Conditions = []appsv1.DeploymentCondition{{Type: appsv1.DeploymentProgressing, Reason: "ProgressDeadlineExceeded", Message: "timed out progressing"}}
	compare(t, OfDeployment(d), "ProgressDeadlineExceeded: timed out")
	job := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Name: "backup"}}
	compare(t, &Finding{Cause: *OfFailedJob(job, batchv1.JobCondition{Reason: "BackoffLimitExceeded", Message: "too often"}, nil)}, "JobFailed: BackoffLimitExceeded: too often")
}

func TestRolloutHints(t *testing.T) {
	checkHints(t, []hintTest{
		{"a job", v1.Cause{Code: JobFailed, Object: "job/backup"}, About{}, []string{"job-name=backup"}},
		{"a deadline", v1.Cause{Code: ProgressDeadline, Object: "deployment/web"}, About{Namespace: "shop"}, []string{"kubectl rollout undo deployment/web --namespace shop"}},
	})
}
