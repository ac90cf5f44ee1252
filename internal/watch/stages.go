package watch

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/english"
	"github.com/berthdev/berth/internal/kube"
	"github.com/berthdev/berth/internal/registry/image"
	"github.com/berthdev/berth/internal/watch/cause"
	"github.com/berthdev/berth/internal/watch/detect"
	"github.com/berthdev/berth/internal/watch/evidence"
	"github.com/berthdev/berth/internal/watch/judge"
)

// statusOf is the status of a stage. A pod that carries the request to stop is
// Stopping until it has.
func statusOf(stage v1.Stage, pod *corev1.Pod) v1.Status {
	if stage == v1.StageStopped || stage == v1.StageFailed {
		return stage.Status()
	}
	if pod.Annotations[kube.StopRequested] == "true" || pod.Labels[kube.StopRequested] == "true" {
		return v1.StatusStopping
	}
	return stage.Status()
}

func (r *reading) failed(f *cause.Finding) stageResult {
	since := f.At
	if since.IsZero() {
		since = r.EndedAt()
	}
	if since.IsZero() {
		since = f.Begins(r.Pod) // an image that does not come, or what a pod is refused for
	}
	return stageResult{stage: v1.StageFailed, since: since, message: f.Message, why: f}
}

func (r *reading) scheduling() stageResult {
	why, message := detect.Unscheduled(r.Pod), ""
	if why != nil && !r.tentative(*why) {
		message = detect.SchedulerSays(r.Pod)
	}
	if silent := detect.SilentScheduler(r.Pod); why == nil && silent != nil && !r.noEvents &&
		!r.waits(silent.Begun.Add(cause.SilentAfter)) {
		why = silent
	}
	if claim := detect.PendingClaim(r.Pod); claim != nil {
		why = claim
	}
	if r.Growing() != nil {
		message = joined(message, "a node is being added")
	}
	return stageResult{stage: v1.StageScheduling, since: r.CreationTimestamp.Time, message: message, why: why}
}

func (r *reading) initializing(c evidence.Container) stageResult {
	return stageResult{
		stage:   v1.StageInitializing,
		since:   r.Since(corev1.PodScheduled),
		message: c.Name + pullText(c),
		why:     r.unreadiness(),
	}
}

func (r *reading) starting(what string) stageResult {
	since := evidence.Later(r.Since(corev1.PodScheduled), r.Since(corev1.PodInitialized))
	for _, c := range r.Containers {
		if c.Init && !c.Sidecar {
			since = evidence.Later(since, c.InitializedAt())
		}
	}
	if r.ContainersReady() { // a pod that was ready before is not since then
		since = evidence.Later(since, r.Since(corev1.PodReady))
	}
	return stageResult{stage: v1.StageStarting, since: since, message: what, why: r.unreadiness()}
}

// unreadiness is why a pod that has a node does not get on: the node, what there is of
// the pod there, or that nobody says anything about it.
func (r *reading) unreadiness() *cause.Finding {
	if f := detect.Provider(r.Pod); f != nil {
		return f
	}
	if f := detect.Node(r.Pod); f != nil {
		return f
	}
	if f := judge.Unready(r.Pod); f != nil {
		return f
	}
	f, from := detect.SilentKubelet(r.Pod)
	if f == nil || r.noEvents || r.waits(from) {
		return nil
	}
	return f
}

// unready says what keeps the pod from being ready: a container, a readiness
// gate, or that the pod's condition is still to come. Empty if nothing does.
func (r *reading) unready() string {
	for _, c := range r.Containers {
		if c.Serves() && !c.IsReady() {
			return doing(c)
		}
	}
	if gate := r.ClosedGate(); gate != "" {
		return "readiness gate " + gate
	}
	if !kube.IsReady(r.Pod.Pod) {
		return "the pod is not marked ready"
	}
	return ""
}

// doing is what a container that is not ready is doing.
func doing(c evidence.Container) string {
	text := c.Name
	state := c.Status.State
	switch {
	case state.Running != nil && !c.IsStarted():
		text += " has not passed its startup probe"
	case state.Running != nil:
		text += " is not ready"
	case c.Ended() != nil:
		text += fmt.Sprintf(" ended with exit code %d", c.Ended().ExitCode)
	case pullText(c) != "":
		text += pullText(c)
	default:
		text += " is being created"
	}
	if n := int(c.Status.RestartCount); n > 0 {
		text += ", " + english.Plural(n, "restart")
	}
	return text
}

// pullText says that the image of a container is being pulled: from the first moment, while
// the stage is Pulling only when that has lasted.
func pullText(c evidence.Container) string {
	if _, pulling := pullingSince(c); !pulling {
		return ""
	}
	return ": pulling " + image.Parse(c.Image).Short()
}

func joined(a, b string) string {
	if a == "" || b == "" {
		return a + b
	}
	return a + "; " + b
}

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
		if !r.waits(since.Add(finalizersAfter)) {
			message = joined(message, held)
		}
	}
	why := cmp.Or(detect.Overdue(r.Pod), detect.Held(r.Pod, HeldBy(r.Pod.Pod)))
	if why != nil && r.waits(r.DeletionTimestamp.Add(cause.SilentAfter)) {
		why = nil
	}
	return stageResult{stage: v1.StageTerminating, since: since, message: message, why: why}
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
