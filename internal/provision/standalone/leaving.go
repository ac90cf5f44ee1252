package standalone

import (
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/watch"
	"github.com/berthdev/berth/internal/watch/follow"
)

// terminating is the pod that is followed until it is gone; nil without one.
func terminating(follower *follow.Follower) *corev1.Pod {
	if follower == nil {
		return nil
	}
	pod, gone := follower.State().Pod()
	if gone || pod != nil && pod.DeletionTimestamp == nil {
		return nil
	}
	return pod
}

// stillThere describes a pod that has been deleted and is not gone, and says what
// to do about it; again is the command that goes on waiting.
func stillThere(pod *corev1.Pod, now time.Time, again string) (what, hint string) {
	left := pod.DeletionTimestamp.Sub(now).Round(time.Second)
	parts := []string{"phase " + string(pod.Status.Phase), fmt.Sprintf("%s of its grace period left", left)}
	hint = "keep waiting with `" + again + "`"
	if left <= 0 {
		parts[1] = "its grace period has expired"
		hint = "its node has not reported that its containers ended: " +
			fault.Command("kubectl", "describe", "pod", pod.Name, "--namespace", pod.Namespace)
	}
	if held := watch.HeldBy(pod); held != "" {
		parts = append(parts, held)
		hint = "whatever set the finalizer has to remove it; if nothing does: " +
			fault.Command("kubectl", "patch", "pod", pod.Name, "--namespace", pod.Namespace, "--type", "merge", "--patch",
				`{"metadata":{"finalizers":null}}`)
	}
	return fmt.Sprintf("pod %s is still there: %s", pod.Name, strings.Join(parts, ", ")), hint
}
