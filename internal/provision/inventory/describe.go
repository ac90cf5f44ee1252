package inventory

import (
	"encoding/base64"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/kube"
)

// Describe is the document of a pod that carries a workspace's labels.
func Describe(pod *metav1.ObjectMeta, reading v1.Snapshot) v1.Workspace {
	w := v1.Workspace{
		ID: idOf(pod), Namespace: pod.Namespace,
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
