package detect

import (
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/berthdev/berth/internal/watch/watchtest"
)

// A pod that no scheduler speaks of waits for none, unless it may have to wait for a volume first.
func TestSilentScheduler(t *testing.T) {
	of := func(name string) func(*corev1.Pod) { return func(pod *corev1.Pod) { pod.Spec.SchedulerName = name } }
	compare(t, SilentScheduler(podOf(watchtest.NewPod("web", "1", of("batch")))),
		"SchedulerSilent: scheduler batch has said nothing")
	usual := SilentScheduler(podOf(watchtest.NewPod("web", "1")))
	compare(t, usual, "SchedulerSilent: scheduler default-scheduler has")
	if usual.NeedsPerson() {
		t.Error("the cluster's scheduler comes back by itself")
	}
	mounts := func(pod *corev1.Pod) {
		pod.Spec.Volumes = []corev1.Volume{{
			Name: "data",
			VolumeSource: corev1.VolumeSource{
				PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: "data"},
			},
		}}
	}
	compare(t, SilentScheduler(podOf(watchtest.NewPod("web", "1", mounts))), "")
}
