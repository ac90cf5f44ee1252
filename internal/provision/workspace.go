package provision

import (
	"cmp"
	"encoding/base64"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

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
		w.Workload, w.JobID = r.found.workload.ref.String(), cmp.Or(r.found.workload.job(), r.jobID)
	}
	var pod *corev1.Pod
	if r.follower != nil {
		pod, _ = r.follower.State().Pod()
	}
	if pod == nil && r.NoWait {
		pod = r.found.pod // its watch may not have told of it yet
	}
	if pod != nil {
		w.CreatedAt = pod.CreationTimestamp.UTC()
		w.JobID = pod.Labels[kube.LabelJobID]
	}
	if w.Stage == "" {
		w.Stage, w.Status = v1.StageUnknown, v1.StatusUnknown
	}
	return w
}

// describe is the document of a pod that carries a workspace's labels.
func describe(pod *metav1.ObjectMeta, reading v1.Snapshot) v1.Workspace {
	w := v1.Workspace{
		TypeMeta: v1.Kind(v1.KindWorkspace),
		ID:       idOf(pod), Namespace: pod.Namespace,
		Owner:     pod.Labels[kube.LabelUsername],
		Blueprint: pod.Labels[kube.LabelBlueprint],
		JobID:     pod.Labels[kube.LabelJobID],
		CreatedAt: pod.CreationTimestamp.UTC(),
		Snapshot:  reading,
	}
	if kind, name := pod.Labels[kube.LabelWorkloadKind], pod.Labels[kube.LabelWorkloadName]; kind != "" && name != "" {
		w.Workload = kube.Object(strings.ToLower(kind), name)
	}
	if text, err := base64.StdEncoding.DecodeString(pod.Annotations[kube.AnnotationUserString]); err == nil {
		w.UserString = string(text)
	}
	return w
}

// idOf is the canonical ID that a pod carries, or else its name.
func idOf(pod *metav1.ObjectMeta) string {
	if id := pod.Labels[kube.LabelCanonicalID]; id != "" {
		return id
	}
	return pod.Name
}
