package pod

import (
	"context"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/berthdev/berth/internal/kube"
)

// lookAgain is how often a pod is looked at that cannot be watched.
const lookAgain = 2 * time.Second

// Gone returns when the pod with that UID is not there any more or has ended, with the
// reason, or when the context ends.
func Gone(ctx context.Context, client *kube.Client, name, uid string) (why string) {
	pods := client.CoreV1().Pods(client.Namespace)
	for ctx.Err() == nil {
		pod, err := pods.Get(ctx, name, metav1.GetOptions{})
		switch {
		case apierrors.IsNotFound(err):
			return "the pod was deleted"
		case err == nil:
			if why := ended(pod, uid); why != "" {
				return why
			}
			w, err := pods.Watch(ctx, metav1.ListOptions{
				FieldSelector:   fields.OneTermEqualSelector(metav1.ObjectNameField, name).String(),
				ResourceVersion: pod.ResourceVersion,
			})
			if err == nil {
				if why := follow(w, uid); why != "" {
					return why
				}
			}
		}
		select {
		case <-ctx.Done():
		case <-time.After(lookAgain):
		}
	}
	return ""
}

// follow reads a watch of one pod to its end.
func follow(w watch.Interface, uid string) (why string) {
	defer w.Stop()
	for e := range w.ResultChan() {
		pod, ok := e.Object.(*corev1.Pod)
		switch {
		case !ok:
			return "" // an error: the pod is looked at again
		case e.Type == watch.Deleted && string(pod.UID) == uid:
			return "the pod was deleted"
		}
		if why := ended(pod, uid); why != "" {
			return why
		}
	}
	return ""
}

// ended says why a pod is not the one that it was, or cannot be reached any more.
func ended(pod *corev1.Pod, uid string) string {
	switch {
	case string(pod.UID) != uid:
		return "the pod was replaced"
	case kube.HasEnded(pod):
		return "the pod has ended"
	}
	return ""
}
