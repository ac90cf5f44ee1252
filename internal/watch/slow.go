package watch

import (
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/watch/evidence"
)

// The reasons of the warnings that no event reports.
const (
	reasonMounting   = "MountingVolumes"
	reasonTakingLong = "TakingLong"
)

// slowWarnings are about a pod that takes longer than the policy allows: to mount its volumes, and to get ready. They
// say no more than that, and begin when the time is up.
func (r *reading) slowWarnings(stage v1.Stage) (warnings []v1.Warning) {
	switch stage {
	case v1.StageScheduling, v1.StagePulling, v1.StageInitializing, v1.StageStarting:
	default:
		return nil
	}
	warn := func(after time.Duration, since time.Time, reason, text string) {
		if after == 0 || since.IsZero() || r.waits(since.Add(after)) {
			return
		}
		warnings = append(warnings, v1.Warning{
			Reason: reason, Message: fmt.Sprintf(text, after), Count: 1, Object: r.Ref(), At: since.Add(after).UTC(),
		})
	}
	if r.mounts() {
		warn(r.policy.MountDelay, r.Since(corev1.PodScheduled), reasonMounting,
			"its volumes have not been mounted for %s")
	}
	since := evidence.Later(r.CreationTimestamp.Time, r.Since(corev1.PodReady)) // it may have been ready before
	warn(r.policy.LongDelay, since, reasonTakingLong, "it is taking long: not ready after %s")
	return warnings
}

// mounts is true for a pod on a node that waits for volumes: it has some, and nothing of it has been pulled or started.
func (r *reading) mounts() bool {
	if r.Spec.NodeName == "" || len(evidence.ClaimNames(r.Pod.Pod)) == 0 {
		return false
	}
	for _, c := range r.Containers {
		if reason, _, waiting := c.Waiting(); !waiting || reason != "" && reason != evidence.ContainerCreating &&
			reason != evidence.PodInitializing {
			return false
		}
		if evidence.Latest(c.Events, "Pulling", "Pulled", "Created", "Started") != nil {
			return false
		}
	}
	return true
}
