package watch

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"

	v1 "github.com/berthdev/berth/api/v1"
)

// podFailure says why a pod's phase is Failed: by the pod's own reason if it has
// one (it was evicted, refused by the node, out of time), else by the container
// that ended badly.
func (r *reading) podFailure() finding {
	status := r.pod.Status
	if status.Reason == "" {
		for _, c := range r.containers {
			if f, ok := c.crash(r.policy); ok {
				return f
			}
			if t := c.ended(); t != nil && t.ExitCode != 0 {
				return c.exited(CauseContainerExited, t, fmt.Sprintf("ended with exit code %d", t.ExitCode))
			}
		}
	}
	text := strings.TrimSpace(status.Message)
	switch {
	case status.Reason != "" && text != "":
		text = status.Reason + ": " + text
	case text == "":
		text = "the pod failed" + strings.TrimSuffix(": "+status.Reason, ": ")
	}
	return finding{reason: status.Reason, cause: v1.Cause{
		Code:    podFailureCode(status),
		Message: text,
		Object:  reference(KindPod, r.pod.Name),
	}}
}

func podFailureCode(status corev1.PodStatus) string {
	switch reason := status.Reason; {
	case reason == "Evicted":
		return CauseEvicted
	case reason == "Preempting", reason == "Preempted":
		return CausePreempted
	case strings.HasPrefix(reason, "OutOf"):
		return CauseNodeOutOfResources
	case reason == "NodeAffinity":
		return CauseNodeAffinity
	case reason == "DeadlineExceeded":
		return CauseDeadlineExceeded
	}
	return CausePodFailed
}
