package cause

import (
	"slices"
	"time"

	"github.com/berthdev/berth/internal/watch/cause/catalog"
	"github.com/berthdev/berth/internal/watch/evidence"
)

// Judgement is what a policy makes of what was found about a pod.
type Judgement struct {
	// Failed is the first finding that is neither ignored nor in its grace period:
	// of the volumes, then of the containers in their order. Nil if there is none.
	Failed *Finding
	// Ignored and Graced are those before it: what would have failed, had it not
	// been ignored, and what will fail if it does not pass.
	Ignored, Graced []Finding
	// Next is when time alone may change the judgement; zero if it will not.
	Next time.Time
}

// Judge looks for what will not pass by itself, or is not known to.
func Judge(p evidence.Pod, policy Policy, now time.Time) Judgement {
	j := judge{Pod: p, policy: policy, now: now}
	var judged Judgement
	for _, f := range append(j.failures(), j.slow()...) {
		if f.ignoredBy(policy) {
			judged.Ignored = append(judged.Ignored, f)
			continue
		}
		if f.Passes && policy.Patient() {
			// It counts from what the evidence says, so that nothing has to be
			// remembered.
			end := evidence.Later(f.Begun, p.ProgressedAt()).Add(policy.GracePeriod)
			if j.waits(end) {
				f.Message += " (may pass: waiting up to " + policy.graceText() + ")"
				judged.Graced = append(judged.Graced, f)
				continue
			}
			f.Message += " (did not pass within " + policy.graceText() + ")"
		}
		judged.Failed = &f
		break
	}
	judged.Next = j.next
	return judged
}

// Tolerates is true for a container or a claim of which a failure does not count,
// because it is ignored or in its grace period.
func (j Judgement) Tolerates(name string) bool {
	return name != "" && slices.ContainsFunc(slices.Concat(j.Graced, j.Ignored), func(f Finding) bool {
		return f.Container == name || f.Object == name
	})
}

// IgnoredCodes are the codes of what was ignored, each once.
func (j Judgement) IgnoredCodes() (codes []string) {
	for _, f := range j.Ignored {
		if !slices.Contains(codes, f.Code) {
			codes = append(codes, f.Code)
		}
	}
	return codes
}

// judge judges one pod at one moment.
type judge struct {
	evidence.Pod
	policy Policy
	now    time.Time
	next   time.Time
}

// waits is true before a time, and asks for another judgement then.
func (j *judge) waits(until time.Time) bool {
	if !j.now.Before(until) {
		return false
	}
	if j.next.IsZero() || until.Before(j.next) {
		j.next = until
	}
	return true
}

// failures are what fails under both policies, unless it is known to pass.
func (j *judge) failures() (found []Finding) {
	for _, c := range j.Claims {
		if f, ok := unbound(c); ok {
			found = append(found, f)
		}
	}
	for _, c := range j.Containers {
		if f, ok := j.failure(c); ok {
			found = append(found, f)
		}
	}
	return found
}

// failure is what will not heal by itself about one container, the gravest
// first: what is in the status, then what only the events know yet.
func (j *judge) failure(c evidence.Container) (Finding, bool) {
	if f, ok := stuck(c); ok {
		if _, pulling := c.OpenPull(); pulling && f.Begun.IsZero() {
			f.Begun = j.now // it has just failed: the event that says so is still to come
		}
		return withSecret(f, j.Events), true
	}
	if f, ok := failedPull(c); ok {
		return withSecret(f, j.Events), true
	}
	if j.ignoresRestarts(c) {
		return Finding{}, false
	}
	return crashed(c, j.policy)
}

// slow are the causes that fail nothing by the severity table, but for which
// Patient does not wait without end.
func (j *judge) slow() []Finding {
	if !j.policy.Patient() {
		return nil
	}
	if j.Spec.NodeName == "" {
		return growing(j.Pod)
	}
	return attachedElsewhere(j.Pod)
}

// stuck reads the reasons for a container to wait that will not pass by
// themselves. (CrashLoopBackOff and PostStartHookError are not among them: the
// container is restarted, which the crash loop counts.)
func stuck(c evidence.Container) (Finding, bool) {
	for _, detect := range []func(evidence.Container) (Finding, bool){notPulled, notCreated, outOfMemoryWait} {
		if f, ok := detect(c); ok {
			return f, true
		}
	}
	return Finding{}, false
}

// IsStuck is true for a container that waits for what will not pass by itself.
func IsStuck(c evidence.Container) bool {
	_, ok := stuck(c)
	return ok
}

// NeedsPerson is true for what will not resolve by itself: it stays
// until somebody creates what is missing, or makes room.
func (f Finding) NeedsPerson() bool { return !f.Passes && catalog.Lookup(f.Code).Person }

// StuckSince is since when a pod has waited for a finding that only a person can
// change, and nothing else about it has changed; zero for other findings, and for
// what is ignored.
func StuckSince(f Finding, p evidence.Pod, policy Policy) time.Time {
	if !f.NeedsPerson() || f.ignoredBy(policy) {
		return time.Time{}
	}
	return evidence.Later(f.Begins(p), evidence.Later(p.ProgressedAt(), p.StatusChangedAt()))
}

// ControllerStuckSince is the same for what a workload itself waits for. While one of
// its pods gets on, so does the workload: it counts from the last progress of any.
func ControllerStuckSince(f Finding, pods []evidence.Pod, policy Policy) time.Time {
	if !f.NeedsPerson() || f.ignoredBy(policy) {
		return time.Time{}
	}
	since := f.Begun
	for _, p := range pods {
		since = evidence.Later(since, evidence.Later(p.ProgressedAt(), p.StatusChangedAt()))
	}
	return since
}
