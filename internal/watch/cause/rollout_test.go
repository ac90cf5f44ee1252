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
	d.Status.Conditions = []appsv1.DeploymentCondition{{
		Type:   appsv1.DeploymentProgressing,
		Reason: "ProgressDeadlineExceeded", Message: "timed out progressing",
	}}
	compare(t, OfDeployment(d), "ProgressDeadlineExceeded: timed out")
	job := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Name: "backup"}}
	compare(t, &Finding{Cause: *OfFailedJob(job,
		batchv1.JobCondition{Reason: "BackoffLimitExceeded", Message: "too often"},
		nil)}, "JobFailed: BackoffLimitExceeded: too often")
}

// A job that gave up did so because of its last pod; not if its time was over.
func TestFailedJobNamesItsLastPod(t *testing.T) {
	last := podOf(watchtest.NewPod("backup-x", "1", watchtest.OnNode,
		watchtest.App(watchtest.Exits(3, "Error", time.Second)), func(pod *corev1.Pod) {
			pod.Spec.RestartPolicy, pod.Status.Phase = corev1.RestartPolicyNever, corev1.PodFailed
			pod.Status.ContainerStatuses[0].State.Terminated.Message = "no such table: orders"
		}))
	job := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Name: "backup"}, Status: batchv1.JobStatus{Failed: 3}}
	for reason, want := range map[string]string{
		"BackoffLimitExceeded": "JobFailed: BackoffLimitExceeded: the job gave up after 3 failed pods; the last, backup-x: container app: ended with exit code 3 and is not restarted: no such table: orders",
		"DeadlineExceeded":     "JobFailed: DeadlineExceeded: said",
	} {
		why := OfFailedJob(job, batchv1.JobCondition{Reason: reason, Message: "said"}, &last)
		compare(t, &Finding{Cause: *why}, want)
		if about := "pod/" + last.Name; reason != batchv1.JobReasonDeadlineExceeded && why.Object != about {
			t.Errorf("it is about %s, want %s", why.Object, about)
		}
	}
	compare(t, OfRetriedJob(last),
		"ContainerExited: pod backup-x: container app: ended with exit code 3 and is not restarted: no such table: orders; the job makes another one")
}

// A job waits since it was suspended, which may be long after it was made, and more than once.
func TestSuspendedJob(t *testing.T) {
	job := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{
		Name:              "backup",
		CreationTimestamp: metav1.NewTime(watchtest.Epoch),
	}, Spec: batchv1.JobSpec{Suspend: new(true)}}
	condition := func(which batchv1.JobConditionType, is corev1.ConditionStatus) batchv1.JobCondition {
		return batchv1.JobCondition{
			Type: which, Status: is, Reason: "Said",
			LastTransitionTime: metav1.NewTime(watchtest.After(time.Hour)),
		}
	}
	for name, test := range map[string]struct {
		conditions []batchv1.JobCondition
		reason     string
		since      time.Duration
	}{
		"suspended":      {[]batchv1.JobCondition{condition(batchv1.JobSuspended, corev1.ConditionTrue)}, "Said", time.Hour},
		"not yet again":  {[]batchv1.JobCondition{condition(batchv1.JobSuspended, corev1.ConditionFalse)}, "", 0},
		"something else": {[]batchv1.JobCondition{condition(batchv1.JobFailureTarget, corev1.ConditionTrue)}, "", 0},
	} {
		job.Status.Conditions = test.conditions
		f := OfSuspendedJob(job)
		if f == nil || f.Code != JobSuspended || f.Reason != test.reason || !f.Begun.Equal(watchtest.After(test.since)) {
			t.Errorf("%s: %+v", name, f)
		}
	}
	if job.Spec.Suspend = new(false); OfSuspendedJob(job) != nil {
		t.Error("a job that was resumed is suspended")
	}
}

func TestRolloutHints(t *testing.T) {
	checkHints(t, []hintTest{
		{"a job", v1.Cause{Code: JobFailed, Object: "job/backup"}, About{}, []string{"job-name=backup"}},
		{
			"a deadline",
			v1.Cause{Code: ProgressDeadline, Object: "deployment/web"},
			About{Namespace: "shop"},
			[]string{"kubectl rollout undo deployment/web --namespace shop"},
		},
	})
}

// What a controller waits for has begun when its condition says so, or else with the object; what a
// pod holds up, with its last progress.
func TestWhenControllersBeganToWait(t *testing.T) {
	at := func(d time.Duration) metav1.Time { return metav1.NewTime(watchtest.After(d)) }
	made := metav1.ObjectMeta{Name: "web", CreationTimestamp: at(time.Second)}
	job := func(conditions ...batchv1.JobCondition) *Finding {
		return OfSuspendedJob(&batchv1.Job{
			ObjectMeta: made, Spec: batchv1.JobSpec{Suspend: new(true)},
			Status: batchv1.JobStatus{Conditions: conditions},
		})
	}
	deployment := func(conditions ...appsv1.DeploymentCondition) *Finding {
		return OfPausedDeployment(&appsv1.Deployment{
			ObjectMeta: made, Spec: appsv1.DeploymentSpec{Paused: true},
			Status: appsv1.DeploymentStatus{Conditions: conditions},
		})
	}
	pod := podOf(watchtest.NewPod("web-0", "1", watchtest.OnNode, watchtest.App(watchtest.Runs(4*time.Second))))
	for name, c := range map[string]struct {
		found *Finding
		want  time.Duration
	}{
		"a job": {job(), time.Second},
		"a suspended job": {job(batchv1.JobCondition{
			Type: batchv1.JobSuspended, Status: corev1.ConditionTrue,
			LastTransitionTime: at(3 * time.Second),
		}), 3 * time.Second},
		"one that was": {job(batchv1.JobCondition{
			Type: batchv1.JobSuspended, Status: corev1.ConditionFalse,
			LastTransitionTime: at(3 * time.Second),
		}), time.Second},
		"one that failed": {job(batchv1.JobCondition{
			Type: batchv1.JobFailed, Status: corev1.ConditionTrue,
			LastTransitionTime: at(3 * time.Second),
		}), time.Second},
		"a deployment": {deployment(), time.Second},
		"one that is paused": {deployment(appsv1.DeploymentCondition{
			Type:   appsv1.DeploymentProgressing,
			Reason: "DeploymentPaused", LastTransitionTime: at(3 * time.Second),
		}), 3 * time.Second},
		"one that goes on": {deployment(appsv1.DeploymentCondition{
			Type:   appsv1.DeploymentProgressing,
			Reason: "NewReplicaSetAvailable", LastTransitionTime: at(3 * time.Second),
		}), time.Second},
		"one that is there": {deployment(appsv1.DeploymentCondition{
			Type:   appsv1.DeploymentAvailable,
			Reason: "DeploymentPaused", LastTransitionTime: at(3 * time.Second),
		}), time.Second},
		"a pod before": {OfBlockedRevision(pod), 4 * time.Second},
	} {
		if c.found == nil || !c.found.Begun.Equal(watchtest.After(c.want)) {
			t.Errorf("%s: %+v, want %s", name, c.found, c.want)
		}
	}
	if f := OfSuspendedJob(&batchv1.Job{ObjectMeta: made}); f != nil {
		t.Errorf("a job that is not suspended: %+v", f)
	}
	if f := OfPausedDeployment(&appsv1.Deployment{ObjectMeta: made}); f != nil {
		t.Errorf("a deployment that is not paused: %+v", f)
	}
}
