package judge

import (
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/berthdev/berth/internal/watch/cause"
	"github.com/berthdev/berth/internal/watch/detect"
	"github.com/berthdev/berth/internal/watch/watchtest"
)

func TestFailedPod(t *testing.T) {
	phase := func(reason, message string) func(*corev1.Pod) {
		return func(pod *corev1.Pod) {
			pod.Status = corev1.PodStatus{Phase: corev1.PodFailed, Reason: reason, Message: message}
		}
	}
	for name, test := range map[string]struct {
		change func(*corev1.Pod)
		want   string
	}{
		"evicted": {
			phase("Evicted", "The node was low on resource: memory. "),
			"Evicted: Evicted: The node was low on resource: memory.",
		},
		"evicted, for it is out of process IDs": {
			phase("Evicted", "The node was low on resource: pids. Threshold quantity: 1638, available: 902. "),
			"NodeOutOfProcesses: Evicted: The node was low on resource: pids.",
		},
		"not taken, for it is": {
			phase("Evicted", "Pod was rejected: The node had condition: [PIDPressure]. "),
			"NodeOutOfProcesses: Evicted: Pod was rejected",
		},
		"not taken, for it is out of disk": {
			phase("Evicted", "The node had condition: [DiskPressure]. "),
			"Evicted: Evicted: The node had condition",
		},
		"preempted":                  {phase("Preempting", ""), "Preempted: the pod failed: Preempting"},
		"refused by the node":        {phase("OutOfcpu", "not enough"), "NodeOutOfResources: OutOfcpu: not enough"},
		"labels of the node changed": {phase("NodeAffinity", "x"), "NodeAffinity"},
		"out of time":                {phase("DeadlineExceeded", "x"), "DeadlineExceeded"},
		"not allowed there": {
			phase("SysctlForbidden", `forbidden sysctl: "kernel.msgmax" not allowlisted`),
			"PodRejected: SysctlForbidden: forbidden",
		},
		"refused in words of another version": {
			phase("NewReason", "Pod was rejected: no"),
			"PodRejected: NewReason: Pod was",
		},
		"a device": {
			phase("UnexpectedAdmissionError", "Pod was rejected: Allocate failed due to no healthy devices present"),
			"DeviceNotReady: UnexpectedAdmissionError",
		},
		"for another reason": {phase("Strange", ""), "PodFailed: the pod failed: Strange"},
		"for no reason":      {phase("", ""), "PodFailed: the pod failed"},
		"its container ended": {func(pod *corev1.Pod) {
			watchtest.App(watchtest.Exits(2, "Error", time.Second))(pod)
			pod.Status.Phase = corev1.PodFailed
		}, "ContainerExited: ended with exit code 2"},
	} {
		t.Run(name, func(t *testing.T) {
			f := Failed(podOf(watchtest.NewPod("web", "1", watchtest.OnNode, test.change)), cause.DefaultPolicy())
			compare(t, f, test.want)
			if pod := watchtest.NewPod("web", "1", test.change); pod.Status.Reason != "" &&
				f.Reason != pod.Status.Reason {
				t.Errorf("reason %q, want the pod's, %q", f.Reason, pod.Status.Reason)
			}
		})
	}
}

func TestRollout(t *testing.T) {
	d := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Name: "web"}}
	compare(t, detect.Deployment(d), "")
	d.Status.Conditions = []appsv1.DeploymentCondition{{
		Type:   appsv1.DeploymentProgressing,
		Reason: "ProgressDeadlineExceeded", Message: "timed out progressing",
	}}
	compare(t, detect.Deployment(d), "ProgressDeadlineExceeded: timed out")
	job := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Name: "backup"}}
	compare(t, &cause.Finding{Cause: *FailedJob(job,
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
		"BackoffLimitExceeded": "JobFailed: BackoffLimitExceeded: the job gave up after 3 failed pods; the last, " +
			"backup-x: container app: ended with exit code 3 and is not restarted: no such table: orders",
		"DeadlineExceeded": "JobFailed: DeadlineExceeded: said",
	} {
		why := FailedJob(job, batchv1.JobCondition{Reason: reason, Message: "said"}, &last)
		compare(t, &cause.Finding{Cause: *why}, want)
		if about := "pod/" + last.Name; reason != batchv1.JobReasonDeadlineExceeded && why.Object != about {
			t.Errorf("it is about %s, want %s", why.Object, about)
		}
	}
	compare(t, RetriedJob(last),
		"ContainerExited: pod backup-x: container app: ended with exit code 3 and is not restarted: no such table: "+
			"orders; the job makes another one")
}

// What a controller waits for has begun when its condition says so, or else with the object; what a
// pod holds up, with its last progress.
func TestWhenControllersBeganToWait(t *testing.T) {
	at := func(d time.Duration) metav1.Time { return metav1.NewTime(watchtest.After(d)) }
	made := metav1.ObjectMeta{Name: "web", CreationTimestamp: at(time.Second)}
	job := func(conditions ...batchv1.JobCondition) *cause.Finding {
		return detect.SuspendedJob(&batchv1.Job{
			ObjectMeta: made, Spec: batchv1.JobSpec{Suspend: new(true)},
			Status: batchv1.JobStatus{Conditions: conditions},
		})
	}
	deployment := func(conditions ...appsv1.DeploymentCondition) *cause.Finding {
		return detect.PausedDeployment(&appsv1.Deployment{
			ObjectMeta: made, Spec: appsv1.DeploymentSpec{Paused: true},
			Status: appsv1.DeploymentStatus{Conditions: conditions},
		})
	}
	pod := podOf(watchtest.NewPod("web-0", "1", watchtest.OnNode, watchtest.App(watchtest.Runs(4*time.Second))))
	for name, c := range map[string]struct {
		found *cause.Finding
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
		"a pod before": {BlockedRevision(pod), 4 * time.Second},
	} {
		if c.found == nil || !c.found.Begun.Equal(watchtest.After(c.want)) {
			t.Errorf("%s: %+v, want %s", name, c.found, c.want)
		}
	}
	if f := detect.SuspendedJob(&batchv1.Job{ObjectMeta: made}); f != nil {
		t.Errorf("a job that is not suspended: %+v", f)
	}
	if f := detect.PausedDeployment(&appsv1.Deployment{ObjectMeta: made}); f != nil {
		t.Errorf("a deployment that is not paused: %+v", f)
	}
}
