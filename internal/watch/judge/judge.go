// Package judge says what the findings about a pod or a workload mean under a policy: which of them is a failure,
// how long one that passes is waited for, and which of several explains why nothing gets on.
package judge

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/berthdev/berth/internal/watch/cause"
	"github.com/berthdev/berth/internal/watch/detect"
	"github.com/berthdev/berth/internal/watch/evidence"
)

// Judgement is what a policy makes of what was found about a pod.
type Judgement struct {
	// Failed is the first finding that is neither ignored nor in its grace period:
	// of the volumes, then of the containers in their order. Nil if there is none.
	Failed *cause.Finding
	// Ignored and Graced are those before it: what would have failed, had it not
	// been ignored, and what will fail if it does not pass.
	Ignored, Graced []cause.Finding
	// Next is when time alone may change the judgement; zero if it will not.
	Next time.Time
}

// Pod looks for what will not pass by itself, or is not known to.
func Pod(p evidence.Pod, policy cause.Policy, now time.Time) Judgement {
	j := judge{Pod: p, policy: policy, now: now}
	var judged Judgement
	for _, f := range j.findings() {
		if f.IgnoredBy(policy) {
			judged.Ignored = append(judged.Ignored, *f)
			continue
		}
		if f.Passes && policy.Patient() {
			// It counts from what the evidence says, so that nothing has to be remembered.
			end := evidence.Later(f.Begun, p.ProgressedAt()).Add(policy.GracePeriod)
			if j.waits(end) {
				f.Message += " (may pass: waiting up to " + graceText(policy.GracePeriod) + ")"
				judged.Graced = append(judged.Graced, *f)
				continue
			}
			f.Message += " (did not pass within " + graceText(policy.GracePeriod) + ")"
		}
		judged.Failed = f
		break
	}
	judged.Next = j.next
	return judged
}

// graceText is the grace period as people say it: 10m, not 10m0s.
func graceText(d time.Duration) string {
	if d >= time.Minute && d%time.Minute == 0 {
		return fmt.Sprintf("%dm", d/time.Minute)
	}
	return d.String()
}

// Tolerates is true for a container or a claim of which a failure does not count,
// because it is ignored or in its grace period.
func (j Judgement) Tolerates(name string) bool {
	return name != "" && slices.ContainsFunc(slices.Concat(j.Graced, j.Ignored), func(f cause.Finding) bool {
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
	policy cause.Policy
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

// findings are what fails under both policies, unless it is known to pass; then what fails nothing by the severity
// table, but for which Patient does not wait without end.
func (j *judge) findings() []*cause.Finding {
	var found []*cause.Finding
	for _, c := range j.Claims {
		found = append(found, detect.Unbound(c))
	}
	for _, c := range j.Containers {
		found = append(found, j.failure(c))
	}
	if j.policy.Patient() {
		found = append(found, j.slow())
	}
	return slices.DeleteFunc(found, func(f *cause.Finding) bool { return f == nil })
}

// failure is what will not heal by itself about one container, the gravest
// first: what is in the status, then what only the events know yet.
func (j *judge) failure(c evidence.Container) *cause.Finding {
	f := stuck(c)
	if f == nil {
		f = detect.FailedPull(c)
	} else if _, pulling := c.OpenPull(); pulling && f.Begun.IsZero() {
		f.Begun = j.now // it has just failed: the event that says so is still to come
	}
	switch {
	case f != nil:
		return detect.WithSecret(f, j.Events)
	case j.ignoresRestarts(c):
		return nil
	}
	return crashed(c, j.policy)
}

// slow is a node that is being added, or a volume that has to leave another node first.
func (j *judge) slow() *cause.Finding {
	if j.Spec.NodeName != "" {
		return detect.AttachedElsewhere(j.Pod)
	}
	if j.Growing() == nil || detect.PendingClaim(j.Pod) != nil {
		return nil
	}
	return detect.Unscheduled(j.Pod)
}

// ignoresRestarts is true for a container that has been ready for so long that the end
// of an instance before no longer counts.
func (j *judge) ignoresRestarts(c evidence.Container) bool {
	since, ready := c.ReadySince(j.Pod)
	return ready && c.Status.LastTerminationState.Terminated != nil && !j.waits(since.Add(j.policy.RecoveryTime))
}

// stuck reads the reasons for a container to wait that will not pass by
// themselves. (CrashLoopBackOff and PostStartHookError are not among them: the
// container is restarted, which the crash loop counts.)
func stuck(c evidence.Container) *cause.Finding {
	return cmp.Or(detect.NotPulled(c), detect.NotCreated(c), detect.OutOfMemoryWait(c))
}

// IsStuck is true for a container that waits for what will not pass by itself.
func IsStuck(c evidence.Container) bool { return stuck(c) != nil }

// crashed is what the ends of a container's instances mean.
func crashed(c evidence.Container, p cause.Policy) *cause.Finding {
	if f := detect.OutOfMemory(c); f != nil {
		return f
	}
	if f := detect.EndedAtStart(c); f != nil {
		if f.Code == cause.RuntimeSlow {
			return nil
		}
		return f
	}
	return detect.Crashed(c, p.CrashLoopThreshold, p.Patient())
}
