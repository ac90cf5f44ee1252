// Package watch reads what the API server says about a pod or a workload: which
// stage it is in, why it does not get on, and how that changes.
//
// State is what has been said so far. Analyze makes a reading of it, a pure
// function of state, policy and time that remembers nothing: the same state
// gives the same reading, and the caller decides when to stop. Nothing here asks the API server: that is
// package follow.
package watch

import (
	"time"

	corev1 "k8s.io/api/core/v1"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/kube"
	"github.com/berthdev/berth/internal/watch/cause"
	"github.com/berthdev/berth/internal/watch/detect"
	"github.com/berthdev/berth/internal/watch/evidence"
	"github.com/berthdev/berth/internal/watch/judge"
)

// Analyze reads a state: the stage by the checks of the provisioning flow in
// their order, and what explains it. The time is when the reading may change
// without any event; zero if it will not.
func Analyze(s State, p cause.Policy, now time.Time) (v1.Snapshot, time.Time) {
	p, now = s.correct(p, now)
	if !s.subject.isPod() {
		return analyzeWorkload(s, p, now)
	}
	pod, gone := s.Pod()
	if pod == nil || gone {
		return absent(s.subject, gone), time.Time{}
	}
	r := newReading(s, pod, p, now)
	return r.snapshot(), r.next
}

// absent is the reading of a subject that is not there; gone if it was.
func absent(subject Subject, gone bool) v1.Snapshot {
	snapshot := v1.Snapshot{Stage: v1.StageUnknown, Status: v1.StageUnknown.Status(), Gone: gone}
	if gone {
		snapshot.Message = "deleted"
		snapshot.Cause = detect.Deleted(kube.Object(KindPod, subject.Name))
	}
	return snapshot
}

// reading is one pod at one moment, and what was found out about it.
type reading struct {
	evidence.Pod
	clock
	policy cause.Policy
	pulls  []pull
	judged judge.Judgement
	// noEvents is true if the events about it are not known.
	noEvents bool
}

// isOver is true for a pod whose phase is final.
func isOver(pod *corev1.Pod) bool {
	return pod.DeletionTimestamp == nil && kube.HasEnded(pod)
}

func newReading(s State, pod *corev1.Pod, p cause.Policy, now time.Time) *reading {
	r := &reading{Pod: s.evidenceOf(pod), policy: p, clock: clock{now: now}, noEvents: s.noEvents}
	r.findPulls()
	return r
}

func (r *reading) snapshot() v1.Snapshot {
	is := r.stage()
	is.why = r.explain(is)
	snapshot := v1.Snapshot{
		Stage:   is.stage,
		Status:  statusOf(is.stage, r.Pod.Pod),
		Since:   is.since.UTC(),
		Message: is.message,
		Node:    r.Spec.NodeName,
		Ended:   isOver(r.Pod.Pod),
		Ignored: r.judged.IgnoredCodes(),
	}
	if is.why != nil {
		c := is.why.Cause
		if c.Object == "" {
			c.Object = r.Ref() // of a workload, it says in which pod the container is
		}
		if is.stage != v1.StageFailed {
			if c.Tentative = r.tentative(*is.why); !c.Tentative {
				c.Stuck, snapshot.GivenUp = r.stuck(judge.StuckSince(*is.why, r.Pod, r.policy), r.policy)
			}
		}
		snapshot.Cause = &c
	}
	snapshot.Warnings = r.warnings(snapshot.Cause != nil && snapshot.Cause.Tentative, is.stage)
	for _, c := range r.Containers {
		snapshot.Containers = append(snapshot.Containers, r.container(c))
	}
	return snapshot
}

// stageResult is the answer of the checks: a stage and what it is about.
type stageResult struct {
	stage   v1.Stage
	since   time.Time
	message string
	why     *cause.Finding
}

// stage goes through the checks of the flow in their order, with one refinement:
// what is critical (checks 5 to 7) comes before scheduling and pulling, for a
// claim can be unbindable before there is a node, and one container can fail
// while another's image still comes.
func (r *reading) stage() stageResult {
	switch phase := r.Status.Phase; {
	case r.DeletionTimestamp != nil:
		return r.terminating()
	case phase == corev1.PodSucceeded:
		return stageResult{stage: v1.StageStopped, since: r.EndedAt()}
	case phase == corev1.PodFailed:
		return r.failed(judge.Failed(r.Pod, r.policy))
	}
	r.judged = judge.Pod(r.Pod, r.policy, r.now)
	r.askAt(r.judged.Next)
	switch {
	case r.judged.Failed != nil:
		return r.failed(r.judged.Failed)
	case r.Spec.NodeName == "":
		return r.scheduling()
	case len(r.pulls) > 0:
		return r.pullingImages()
	}
	for _, c := range r.Containers {
		if c.Init && !c.IsInitialized() {
			return r.initializing(c)
		}
	}
	if what := r.unready(); what != "" {
		return r.starting(what)
	}
	return stageResult{stage: v1.StageRunning, since: r.Since(corev1.PodReady)}
}

// explain gives a waiting stage as its cause what the policy waits for, or what
// is ignored if nothing else is known.
func (r *reading) explain(is stageResult) *cause.Finding {
	switch {
	case is.stage == v1.StageFailed || is.stage == v1.StageRunning:
	case len(r.judged.Graced) > 0:
		return &r.judged.Graced[0]
	case is.why == nil && len(r.judged.Ignored) > 0:
		return &r.judged.Ignored[0]
	case is.why == nil:
		return r.lasting(is)
	}
	return is.why
}

// lasting is what has gone on for long without a word about why: an init container, an
// image that comes, a container that is not ready.
func (r *reading) lasting(is stageResult) *cause.Finding {
	var f *cause.Finding
	switch is.stage {
	case v1.StagePulling:
		first := r.longestPull()
		f = detect.SlowPull(first.container, is.message, first.since)
	case v1.StageInitializing, v1.StageStarting:
		f = detect.Silent(r.Pod)
	}
	if f == nil {
		return nil
	}
	text, next := judge.Lasting(*f, r.now)
	r.askAt(next)
	if text == "" {
		return nil
	}
	f.Message += " " + text
	return f
}

func (r *reading) tentative(f cause.Finding) bool { return r.recent(f.Begins(r.Pod), r.policy) }

// Refused is the reading of a pod that does not exist because the API server did
// not accept it, or something that it needs: nothing tries again.
func Refused(message, object string, at time.Time) v1.Snapshot {
	return v1.Snapshot{
		Stage: v1.StageFailed, Status: v1.StageFailed.Status(), Since: at.UTC(),
		Cause: detect.Refusal(message, object),
	}
}
