package kube

import (
	"cmp"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/berthdev/berth/internal/fault"
)

// IDOf is the canonical ID of the workspace that a pod carries, or else its name.
func IDOf(pod *metav1.ObjectMeta) string {
	return cmp.Or(pod.Labels[LabelCanonicalID], pod.Name)
}

// IsOfWorkspace reports whether a pod is one of the workspace whose labels it carries, which
// everybody may give to the pods that they make: the pod of a workspace has its name, and one
// that a workspace is injected into is controlled by its workload.
func IsOfWorkspace(pod *metav1.ObjectMeta) bool {
	if pod.Labels[LabelInjected] != "true" {
		return pod.Labels[LabelCanonicalID] == LabelValue(pod.Name)
	}
	owner, kind := metav1.GetControllerOfNoCopy(pod), pod.Labels[LabelWorkloadKind]
	if owner == nil {
		return false
	}
	name := owner.Name
	if owner.Kind == "ReplicaSet" {
		var ok bool
		if name, ok = strings.CutSuffix(name, "-"+pod.Labels[appsv1.DefaultDeploymentUniqueLabelKey]); !ok {
			return false
		}
		return strings.EqualFold(kind, "deployment") && LabelValue(name) == pod.Labels[LabelWorkloadName]
	}
	return strings.EqualFold(kind, owner.Kind) && LabelValue(name) == pod.Labels[LabelWorkloadName]
}

// Command is a command of berth for a workspace, as a hint proposes it, wherever the current
// namespace is.
func Command(verb, id, namespace string, args ...string) string {
	return fault.Command(append([]string{"berth", verb, "id/" + id, "--namespace", namespace}, args...)...)
}

// Condition is a condition of a pod; nil if the pod does not have it.
func Condition(pod *corev1.Pod, kind corev1.PodConditionType) *corev1.PodCondition {
	for i := range pod.Status.Conditions {
		if pod.Status.Conditions[i].Type == kind {
			return &pod.Status.Conditions[i]
		}
	}
	return nil
}

// IsReady says whether a pod's Ready condition is true.
func IsReady(pod *corev1.Pod) bool {
	c := Condition(pod, corev1.PodReady)
	return c != nil && c.Status == corev1.ConditionTrue
}
