package watch

import (
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/kube"
)

// Analyze reads a state: the stage by the checks of the provisioning flow in
// their order, and what explains it. The time is when the reading may change
// without anything being said; zero if it will not.
func Analyze(s State, p Policy, now time.Time) (v1.Snapshot, time.Time) {
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

// absent is the reading of a pod that is not there, or no more.
func absent(subject Subject, gone bool) v1.Snapshot {
	snapshot := v1.Snapshot{Stage: v1.StageUnknown, Status: v1.StageUnknown.Status(), Gone: gone}
	if gone {
		ref := reference(KindPod, subject.Name)
		snapshot.Message = "deleted"
		snapshot.Cause = &v1.Cause{Code: CausePodDeleted, Message: ref + " was deleted", Object: ref}
	}
	return snapshot
}

// reading is one pod at one moment, and what was found out about it.
type reading struct {
	pod        *corev1.Pod
	containers []container
	events     []*corev1.Event
	claims     []claim
	policy     Policy
	now        time.Time

	next    time.Time
	pulls   []pull
	ignored []finding // what would have failed, had it not been ignored
	graced  []finding // what will fail if it does not pass
}

func newReading(s State, pod *corev1.Pod, p Policy, now time.Time) *reading {
	events := s.eventsAbout(pod.UID)
	r := &reading{
		pod:        pod,
		events:     events,
		containers: containersOf(pod, events),
		claims:     claimsOf(s, pod),
		policy:     p,
		now:        now,
	}
	r.findPulls()
	return r
}

// askAt asks for another reading at a time; the earliest counts.
func (r *reading) askAt(t time.Time) { r.next = earlier(r.next, t) }

// earlier is the earlier of two times to ask at; zero is never.
func earlier(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}

func (r *reading) snapshot() v1.Snapshot {
	is := r.stage()
	is.why = r.explain(is)
	snapshot := v1.Snapshot{
		Stage:    is.stage,
		Status:   reportedAs(is.stage, r.pod),
		Since:    is.since.UTC(),
		Message:  is.message,
		Node:     r.pod.Spec.NodeName,
		Warnings: r.warnings(),
		Ignored:  codes(r.ignored),
	}
	if is.why != nil {
		cause := is.why.cause
		if cause.Object == "" {
			cause.Object = reference(KindPod, r.pod.Name) // of a workload, it says in which pod the container is
		}
		cause.Tentative = is.stage != v1.StageFailed && r.tentative(*is.why)
		snapshot.Cause = &cause
	}
	for _, c := range r.containers {
		snapshot.Containers = append(snapshot.Containers, c.report(r.pulling(c.name)))
	}
	return snapshot
}

// standing is the answer of the checks: a stage and what it is about.
type standing struct {
	stage   v1.Stage
	since   time.Time
	message string
	why     *finding
}

// stage goes through the checks of the flow in their order, with one refinement:
// what is critical (checks 5 to 7) comes before scheduling and pulling, for a
// claim can be unbindable before there is a node, and one container can fail
// while another's image still comes.
func (r *reading) stage() standing {
	switch phase := r.pod.Status.Phase; {
	case r.pod.DeletionTimestamp != nil:
		return r.terminating()
	case phase == corev1.PodSucceeded:
		return standing{stage: v1.StageStopped, since: r.endedAt()}
	case phase == corev1.PodFailed:
		return r.failed(r.podFailure())
	}
	critical, failed := r.critical()
	switch {
	case failed:
		return r.failed(critical)
	case r.pod.Spec.NodeName == "":
		return r.scheduling()
	case len(r.pulls) > 0:
		return r.pullingImages()
	}
	for _, c := range r.containers {
		if c.init && !c.initialized() {
			return r.initializing(c)
		}
	}
	if what := r.unready(); what != "" {
		return r.starting(what)
	}
	return standing{stage: v1.StageRunning, since: r.since(corev1.PodReady)}
}

// explain gives a waiting stage as its cause what the policy waits for, or what
// is ignored if nothing else is known.
func (r *reading) explain(is standing) *finding {
	switch {
	case is.stage == v1.StageFailed || is.stage == v1.StageRunning:
	case len(r.graced) > 0:
		return &r.graced[0]
	case is.why == nil && len(r.ignored) > 0:
		return &r.ignored[0]
	}
	return is.why
}

// tentative is true for what a stage waits for while it has not lasted: most of
// that passes within moments, such as a volume that is still being made. Where
// nothing says when it began, that is after the pod's last progress.
func (r *reading) tentative(f finding) bool {
	begun := later(f.begun, f.at)
	if begun.IsZero() {
		begun = r.progressedAt()
	}
	due := begun.Add(r.policy.CauseDelay)
	if !r.now.Before(due) {
		return false
	}
	r.askAt(due)
	return true
}

// critical is the first cause that is neither to be ignored nor in its grace
// period: of the volumes, then of the containers in their order.
func (r *reading) critical() (finding, bool) {
	r.ignored, r.graced = nil, nil
	for _, f := range append(r.failures(), r.slow()...) {
		switch {
		case r.policy.ignores(f.names()...):
			r.ignored = append(r.ignored, f)
		case r.inGrace(f):
			r.excuse(f)
		default:
			return r.overdue(f), true
		}
	}
	return finding{}, false
}

// failures are what will not pass by itself, or is not known to.
func (r *reading) failures() (found []finding) {
	for _, c := range r.claims {
		if f, ok := c.failure(); ok {
			found = append(found, f)
		}
	}
	for _, c := range r.containers {
		if f, ok := r.failure(c); ok {
			found = append(found, f)
		}
	}
	return found
}

// codes are those of findings, each once.
func codes(found []finding) (codes []string) {
	for _, f := range found {
		if !slices.Contains(codes, f.cause.Code) {
			codes = append(codes, f.cause.Code)
		}
	}
	return codes
}

func (r *reading) since(kind corev1.PodConditionType) time.Time {
	if c := kube.Condition(r.pod, kind); c != nil {
		return c.LastTransitionTime.Time
	}
	return time.Time{}
}
