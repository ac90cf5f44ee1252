package diagnose

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/kube"
	"github.com/berthdev/berth/internal/userstring"
	"github.com/berthdev/berth/internal/watch"
	"github.com/berthdev/berth/internal/watch/cause"
)

// describe reads in the pod's specification what a hint may name.
func describe(subject watch.Subject, records []watch.Record, c *v1.Cause) cause.About {
	pod := podOf(subject, records, c)
	if pod == nil {
		return cause.About{Namespace: subject.Namespace, Controlled: subject.Kind != "" && subject.Kind != watch.KindPod}
	}
	about := aboutPod(pod)
	if subject.Kind != "" && subject.Kind != watch.KindPod { // no blueprint made the other containers of a workload
		about.UserString, about.Blueprint = "", ""
	}
	about.Job = subject.Kind == watch.KindJob
	return about.Of(pod.Spec, c)
}

// aboutPod reads in a pod's labels what a hint may name.
func aboutPod(pod *corev1.Pod) cause.About {
	about := cause.About{
		Namespace: pod.Namespace, Blueprint: pod.Labels[kube.LabelBlueprint],
		Controlled: metav1.GetControllerOf(pod) != nil,
	}
	about.UserString = userstring.FromAnnotation(pod.Annotations[kube.AnnotationUserString])
	return about
}

// isOwnPod is true for the pod of a workspace that is in no workload.
func isOwnPod(subject watch.Subject, pod *corev1.Pod) bool {
	return pod != nil && pod.Name == subject.Name && (subject.Kind == "" || subject.Kind == watch.KindPod) &&
		kube.IsOfWorkspace(&pod.ObjectMeta) && metav1.GetControllerOf(pod) == nil
}
