package watch

import (
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	v1 "github.com/berthdev/berth/api/v1"
)

// finalizersAfter is how long a pod has been terminating before its finalizers are
// mentioned: their owners usually remove them within that time.
const finalizersAfter = 3 * time.Second

// terminating is the stage of a pod that is being deleted, since that was asked
// for. (The timestamp is when the grace period will be over.)
func (r *reading) terminating() stageResult {
	since := r.DeletionTimestamp.Time
	message := ""
	if grace := r.DeletionGracePeriodSeconds; grace != nil {
		since = since.Add(-time.Duration(*grace) * time.Second)
		message = fmt.Sprintf("grace period %d s", *grace)
	}
	if held := HeldBy(r.Pod.Pod); held != "" {
		if mention := since.Add(finalizersAfter); r.now.Before(mention) {
			r.askAt(mention)
		} else {
			message = joined(message, held)
		}
	}
	return stageResult{stage: v1.StageTerminating, since: since, message: message}
}

// HeldBy names the finalizers that keep a pod that is being deleted, also when its
// containers have ended. Empty if there are none.
func HeldBy(pod *corev1.Pod) string {
	switch len(pod.Finalizers) {
	case 0:
		return ""
	case 1:
		return "held by finalizer " + pod.Finalizers[0]
	default:
		return "held by finalizers " + strings.Join(pod.Finalizers, ", ")
	}
}
