package cause

import (
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/berthdev/berth/internal/watch/watchtest"
)

// What a controller waits for has begun when its condition says so, or else with the object; what a
// pod holds up, with its last progress.
func TestWhenControllersBeganToWait(t *testing.T) {
	at := func(d time.Duration) metav1.Time { return metav1.NewTime(watchtest.After(d)) }
	made := metav1.ObjectMeta{Name: "web", CreationTimestamp: at(time.Second)}
	job := func(conditions ...batchv1.JobCondition) *Finding {
		return OfSuspendedJob(&batchv1.Job{ObjectMeta: made, Spec: batchv1.JobSpec{Suspend: new(true)}, Status: batchv1.JobStatus{Conditions: conditions}})
	}
	deployment := func(conditions ...appsv1.DeploymentCondition) *Finding {
		return OfPausedDeployment(&appsv1.Deployment{ObjectMeta: made, Spec: appsv1.DeploymentSpec{Paused: true}, Status: appsv1.DeploymentStatus{Conditions: conditions}})
	}
	pod := podOf(watchtest.NewPod("web-0", "1", watchtest.OnNode, watchtest.App(watchtest.Runs(4*time.Second))))
	for name, c := range map[string]struct {
		found *Finding
		want  time.Duration
	}{
		"a job":              {job(), time.Second},
		"a suspended job":    {job(batchv1.JobCondition{Type: batchv1.JobSuspended, Status: corev1.ConditionTrue, LastTransitionTime: at(3 * time.Second)}), 3 * time.Second},
		"one that was":       {job(batchv1.JobCondition{Type: batchv1.JobSuspended, Status: corev1.ConditionFalse, LastTransitionTime: at(3 * time.Second)}), time.Second},
		"one that failed":    {job(batchv1.JobCondition{Type: batchv1.JobFailed, Status: corev1.ConditionTrue, LastTransitionTime: at(3 * time.Second)}), time.Second},
		"a deployment":       {deployment(), time.Second},
		"one that is paused": {deployment(appsv1.DeploymentCondition{Type: appsv1.DeploymentProgressing, Reason: "DeploymentPaused", LastTransitionTime: at(3 * time.Second)}), 3 * time.Second},
		"one that goes on":   {deployment(appsv1.DeploymentCondition{Type: appsv1.DeploymentProgressing, Reason: "NewReplicaSetAvailable", LastTransitionTime: at(3 * time.Second)}), time.Second},
		"one that is there":  {deployment(appsv1.DeploymentCondition{Type: appsv1.DeploymentAvailable, Reason: "DeploymentPaused", LastTransitionTime: at(3 * time.Second)}), time.Second},
		"a pod before":       {OfBlockedRevision(pod), 4 * time.Second},
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
