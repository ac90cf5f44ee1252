package inventory

import (
	helm "helm.sh/helm/v3/pkg/release"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/release"
	"github.com/berthdev/berth/internal/watch"
)

// Podless is the reading of a workspace that is installed without its pod: the pod
// as Helm's record has it, and why it is not there, as far as that is known.
func (t *Target) Podless() (*corev1.Pod, v1.Snapshot) {
	pod, reading := &corev1.Pod{}, v1.Snapshot{Stage: v1.StageUnknown, Status: v1.StatusUnknown}
	if err := t.Found.Unreadable; err != nil {
		reading.Message = err.Error() + "; restore it, or delete the workspace"
	} else {
		pod, reading = wanted(t.Found.Record), missing(t.Found.Record)
	}
	pod.Name, pod.Namespace = t.ID, t.Namespace
	return pod, reading
}

// wanted is the pod of a record; empty if there is none that can be read.
func wanted(record *helm.Release) *corev1.Pod {
	var pod corev1.Pod
	objects, err := release.Objects(record.Manifest)
	if err != nil {
		return &pod
	}
	for _, object := range objects {
		if object.GetKind() == watch.KindPod && runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, &pod) == nil {
			return &pod
		}
	}
	return &corev1.Pod{}
}

// missing says why there is no pod.
func missing(record *helm.Release) v1.Snapshot {
	if object, reason, ok := release.Refusal(record); ok {
		return watch.Refused(reason, object, record.Info.LastDeployed.Time)
	}
	s := v1.Snapshot{Stage: v1.StageUnknown, Status: v1.StatusUnknown}
	if record.Info.Status.IsPending() {
		s.Message = "being installed; if that was interrupted, provision it again"
		return s
	}
	s.Gone, s.Message = true, "installed, but its pod is gone: provision it again"
	return s
}
