package watch

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/english"
	"github.com/berthdev/berth/internal/watch/cause"
	"github.com/berthdev/berth/internal/watch/evidence"
	"github.com/berthdev/berth/internal/watch/judge"
)

// analyzeWorkload reads a workload by its newest revision: the pods of older
// revisions, those that are being deleted and those that were evicted and replaced
// do not count.
func analyzeWorkload(s State, p cause.Policy, now time.Time) (v1.Snapshot, time.Time) {
	w, known := s.workload()
	if !known {
		gone := false
		for _, o := range s.removed {
			gone = gone || o != nil && s.subject.Matches(o)
		}
		return absent(s.subject, gone), time.Time{}
	}
	return s.read(w, s.podsOf(w), p, now)
}

// AnalyzePods reads the pods of a workload that is not known itself: as many are
// wanted as there are. Those that are being deleted or were replaced count only if
// there are no others.
func AnalyzePods(s State, p cause.Policy, now time.Time) (v1.Snapshot, time.Time) {
	pods := slices.DeleteFunc(s.Pods(), isReplaced)
	p, now = s.correct(p, now)
	if len(pods) == 0 {
		pods = s.Pods()
	}
	return s.read(workload{wanted: len(pods), podsOnly: true}, pods, p, now)
}

// isReplaced is true for a pod that its workload has replaced, or will.
func isReplaced(pod *corev1.Pod) bool {
	return pod.DeletionTimestamp != nil || pod.Status.Phase == corev1.PodFailed
}

// read reads a workload by the pods that count.
func (s State) read(w workload, pods []*corev1.Pod, p cause.Policy, now time.Time) (v1.Snapshot, time.Time) {
	var readings []v1.Snapshot
	var replicas []v1.Replica
	var counted []evidence.Pod
	c := clock{now: now}
	for _, pod := range pods {
		r := newReading(s, pod, p, now)
		snapshot := r.snapshot()
		readings, replicas = append(readings, snapshot), append(replicas, replica(pod.Name, snapshot))
		counted = append(counted, r.Pod)
		c.askAt(r.next)
	}
	if w.waiting != nil {
		w.waiting.Tentative = c.recent(w.waiting.Begun, p)
		if !w.waiting.Tentative && !slices.ContainsFunc(readings, moves) {
			w.waiting.Stuck, w.givenUp = c.stuck(judge.ControllerStuckSince(*w.waiting, counted, p), p)
		}
	}
	w.countReady(readings)
	snapshot := w.combine(readings)
	snapshot.Replicas, snapshot.Ignored = byName(replicas), everyIgnored(readings)
	snapshot.Warnings = s.workloadWarnings(w, readings, p)
	return snapshot, c.next
}

// moves is true for a pod that is not ready and that nothing holds up, such as one whose
// image is pulled: its workload gets on, however long that takes.
func moves(pod v1.Snapshot) bool {
	return pod.Verdict() == v1.VerdictWaiting && (pod.Cause == nil || judge.IsSlow(pod.Cause))
}

// podsOf gives the pods that count for a workload.
func (s State) podsOf(w workload) []*corev1.Pod {
	var pods []*corev1.Pod
	for _, pod := range all[*corev1.Pod](s.objects) {
		owner := metav1.GetControllerOf(pod)
		if owner != nil && owner.UID == w.owner && w.current(pod) && !isReplaced(pod) {
			pods = append(pods, pod)
		}
	}
	return pods
}

// countReady counts the ready pods of the newest revision where the status counts
// those of all, or is not known.
func (w *workload) countReady(readings []v1.Snapshot) {
	if w.readyOfAll == 0 && !w.podsOnly {
		return
	}
	for _, r := range readings {
		if r.Stage == v1.StageRunning {
			w.ready++
		}
	}
	w.serving = max(0, w.readyOfAll-w.ready)
	w.complete = w.complete || w.podsOnly && w.ready == w.wanted
}

// replica is a pod's reading in short.
func replica(name string, s v1.Snapshot) v1.Replica {
	return v1.Replica{Name: name, Stage: s.Stage, Message: s.Message, Node: s.Node}
}

func byName(replicas []v1.Replica) []v1.Replica {
	slices.SortFunc(replicas, func(a, b v1.Replica) int { return strings.Compare(a.Name, b.Name) })
	return replicas
}

// everyIgnored are the codes that were ignored in any of the pods.
func everyIgnored(readings []v1.Snapshot) (ignored []string) {
	for _, r := range readings {
		ignored = append(ignored, r.Ignored...)
	}
	slices.Sort(ignored)
	return slices.Compact(ignored)
}

// combine makes one reading of many: a pod that failed, else the one that has got
// the least far, unless the workload itself says that it is done.
func (w workload) combine(readings []v1.Snapshot) v1.Snapshot {
	snapshot := v1.Snapshot{Stage: v1.StageScheduling, Message: cmp.Or(w.podless, "no pod yet"), Since: w.since}
	if len(readings) > 0 {
		snapshot = slices.MinFunc(readings, func(a, b v1.Snapshot) int { return progress(a.Stage) - progress(b.Stage) })
	}
	switch {
	case w.ended != "":
		snapshot.Stage, snapshot.Message, snapshot.Cause, snapshot.GivenUp = w.ended, "", w.endCause, false
	case snapshot.Stage == v1.StageFailed, snapshot.Stage == v1.StageTerminating:
	case w.complete:
		snapshot.Stage, snapshot.Cause, snapshot.GivenUp = v1.StageRunning, nil, false
		snapshot.Message = cmp.Or(w.podless, readyText(w.wanted, w.wanted))
	default:
		if snapshot.Stage == v1.StageRunning {
			snapshot.Stage = v1.StageStarting
		}
		if len(readings) > 0 {
			snapshot.Message = joined(joined(readyText(w.ready, w.wanted), snapshot.Message), w.order)
		}
		if w.waiting != nil {
			if snapshot.Cause == nil || !snapshot.Cause.Stuck && !w.waiting.IsConsequence() { // that one says more
				snapshot.Cause, snapshot.GivenUp = &w.waiting.Cause, w.givenUp
			}
			if w.serving > 0 {
				snapshot.Message = joined(snapshot.Message, english.Plural(w.serving, "pod")+" of the revision "+
					"before still ready")
			}
		}
	}
	snapshot.Status = snapshot.Stage.Status()
	return snapshot
}

// readyText counts the pods that are ready. A workload that is scaled to zero wants none.
func readyText(ready, wanted int) string {
	if wanted == 0 {
		return "scaled to zero"
	}
	return fmt.Sprintf("%d of %d ready", ready, wanted)
}

// progress orders stages by how far they have got; a failure comes first.
func progress(stage v1.Stage) int {
	return slices.Index([]v1.Stage{
		v1.StageFailed, v1.StageScheduling, v1.StagePulling, v1.StageInitializing, v1.StageStarting,
		v1.StageRunning, v1.StageStopped, v1.StageTerminating,
	}, stage)
}

// workloadWarnings are those of the pods that count and those about the workload.
func (s State) workloadWarnings(w workload, readings []v1.Snapshot, p cause.Policy) []v1.Warning {
	var folded folder
	for _, e := range s.eventsAbout(w.uid, w.owner) {
		if isWarning(e, circumstances{}, p) {
			folded.add(e)
		}
	}
	for _, r := range readings {
		folded.warnings = append(folded.warnings, r.Warnings...)
	}
	return folded.sorted()
}
