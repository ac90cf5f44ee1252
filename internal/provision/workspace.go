package provision

import (
	"encoding/base64"

	corev1 "k8s.io/api/core/v1"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/kube"
)

// workspace is the run's workspace as far as it is known.
func (r *run) workspace() *v1.Workspace {
	w := &v1.Workspace{
		TypeMeta: v1.Kind(v1.KindWorkspace),
		ID:       r.id, Namespace: r.namespace, UserString: r.user.String(),
		Owner: r.user.User, Blueprint: r.blueprint.Name, JobID: r.jobID,
		Snapshot: r.latest,
		Timing:   r.steps.total(r.Client.Requests.Count()),
	}
	if r.found.workload != nil {
		w.Workload = r.found.workload.ref.String()
	}
	if r.follower == nil {
		w.Stage, w.Status = v1.StageUnknown, v1.StatusUnknown
		return w
	}
	if pod, _ := r.follower.State().Pod(); pod != nil {
		w.CreatedAt = pod.CreationTimestamp.UTC()
		w.JobID = pod.Labels[kube.LabelJobID]
	}
	if w.Stage == "" {
		w.Stage, w.Status = v1.StageUnknown, v1.StatusUnknown
	}
	return w
}

// describe is the document of a pod that carries a workspace's labels.
func describe(pod *corev1.Pod, reading v1.Snapshot) v1.Workspace {
	w := v1.Workspace{
		TypeMeta: v1.Kind(v1.KindWorkspace),
		ID:       pod.Name, Namespace: pod.Namespace,
		Owner:     pod.Labels[kube.LabelUsername],
		Blueprint: pod.Labels[kube.LabelBlueprint],
		JobID:     pod.Labels[kube.LabelJobID],
		CreatedAt: pod.CreationTimestamp.UTC(),
		Snapshot:  reading,
	}
	if id := pod.Labels[kube.LabelCanonicalID]; id != "" {
		w.ID = id
	}
	if pod.Labels[kube.LabelInjected] == "true" {
		w.Workload = workloadOf(pod).String()
	}
	if text, err := base64.StdEncoding.DecodeString(pod.Annotations[kube.AnnotationUserString]); err == nil {
		w.UserString = string(text)
	}
	return w
}
