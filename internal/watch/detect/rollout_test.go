package detect

import (
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/berthdev/berth/internal/watch/cause"
	"github.com/berthdev/berth/internal/watch/watchtest"
)

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
		"suspended": {
			[]batchv1.JobCondition{condition(batchv1.JobSuspended, corev1.ConditionTrue)},
			"Said",
			time.Hour,
		},
		"not yet again":  {[]batchv1.JobCondition{condition(batchv1.JobSuspended, corev1.ConditionFalse)}, "", 0},
		"something else": {[]batchv1.JobCondition{condition(batchv1.JobFailureTarget, corev1.ConditionTrue)}, "", 0},
	} {
		job.Status.Conditions = test.conditions
		f := SuspendedJob(job)
		if f == nil || f.Code != cause.JobSuspended || f.Reason != test.reason ||
			!f.Begun.Equal(watchtest.After(test.since)) {
			t.Errorf("%s: %+v", name, f)
		}
	}
	if job.Spec.Suspend = new(false); SuspendedJob(job) != nil {
		t.Error("a job that was resumed is suspended")
	}
}
