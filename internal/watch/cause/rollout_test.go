package cause

import (
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/watch/watchtest"
)

func TestRollout(t *testing.T) {
	d := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Name: "web"}}
	compare(t, OfDeployment(d), "")
	d.Status.Conditions = []appsv1.DeploymentCondition{{Type: appsv1.DeploymentProgressing, Reason: "ProgressDeadlineExceeded", Message: "timed out progressing"}}
	compare(t, OfDeployment(d), "ProgressDeadlineExceeded: timed out")
	job := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Name: "backup"}}
	compare(t, &Finding{Cause: *OfFailedJob(job, batchv1.JobCondition{Reason: "BackoffLimitExceeded", Message: "too often"}, nil)}, "JobFailed: BackoffLimitExceeded: too often")
}

// A job that gave up did so because of its last pod; not if its time was over.
func TestFailedJobNamesItsLastPod(t *testing.T) {
	last := podOf(watchtest.NewPod("backup-x", "1", watchtest.OnNode, watchtest.App(watchtest.Exits(3, "Error", time.Second)), func(pod *corev1.Pod) {
		pod.Spec.RestartPolicy, pod.Status.Phase = corev1.RestartPolicyNever, corev1.PodFailed
		pod.Status.ContainerStatuses[0].State.Terminated.Message = "no such table: orders"
	}))
	job := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Name: "backup"}, Status: batchv1.JobStatus{Failed: 3}}
	for reason, want := range map[string]string{
		"BackoffLimitExceeded": "JobFailed: BackoffLimitExceeded: the job gave up after 3 failed pods; the last, backup-x: container app: ended with exit code 3 and is not restarted: no such table: orders",
		"DeadlineExceeded":     "JobFailed: DeadlineExceeded: said",
	} {
		compare(t, &Finding{Cause: *OfFailedJob(job, batchv1.JobCondition{Reason: reason, Message: "said"}, &last)}, want)
	}
	compare(t, OfRetriedJob(last), "ContainerExited: pod backup-x: container app: ended with exit code 3 and is not restarted: no such table: orders; the job makes another one")
}

func TestRolloutHints(t *testing.T) {
	checkHints(t, []hintTest{
		{"a job", v1.Cause{Code: JobFailed, Object: "job/backup"}, About{}, []string{"job-name=backup"}},
		{"a deadline", v1.Cause{Code: ProgressDeadline, Object: "deployment/web"}, About{Namespace: "shop"}, []string{"kubectl rollout undo deployment/web --namespace shop"}},
	})
}
