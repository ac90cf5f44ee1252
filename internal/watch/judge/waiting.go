package judge

import (
	"cmp"
	"slices"
	"time"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/watch/cause"
	"github.com/berthdev/berth/internal/watch/detect"
	"github.com/berthdev/berth/internal/watch/evidence"
)

// Unready is what is known of why a pod that has a node does not get on; nil if
// nothing is.
func Unready(p evidence.Pod) *cause.Finding {
	if !p.Sandboxed() {
		if f := cmp.Or(detect.NotMounted(p), detect.NoSandbox(p)); f != nil {
			return f
		}
	}
	for _, c := range p.Containers {
		if f := unready(c); f != nil {
			return f
		}
	}
	return detect.GateClosed(p)
}

// unready is why one container is not ready: its probe fails, the kubelet has
// trouble that should pass, or it was restarted.
func unready(c evidence.Container) *cause.Finding {
	if c.IsReady() || c.Init && c.IsInitialized() && !c.Sidecar {
		return nil
	}
	if c.Status.State.Running != nil {
		return detect.ProbeFails(c)
	}
	if f := detect.HookWait(c); f != nil {
		return f
	}
	if reason, message, _ := c.Waiting(); message != "" && reason != evidence.CrashLoopBackOff {
		return cmp.Or(stuck(c), detect.NotStarted(c))
	}
	if f := detect.EndedOnce(c); f != nil {
		return cmp.Or(detect.EndedAtStart(c), f)
	}
	return detect.HookRuns(c)
}

// StuckSince is since when a pod has waited for a finding that only a person can
// change, and nothing else about it has changed; zero for other findings, and for
// what is ignored.
func StuckSince(f cause.Finding, p evidence.Pod, policy cause.Policy) time.Time {
	if !f.NeedsPerson() || f.IgnoredBy(policy) {
		return time.Time{}
	}
	return evidence.Later(f.Begins(p), evidence.Later(p.ProgressedAt(), p.StatusChangedAt()))
}

// ControllerStuckSince is the same for what a workload itself waits for. While one of
// its pods gets on, so does the workload: it counts from the last progress of any.
func ControllerStuckSince(f cause.Finding, pods []evidence.Pod, policy cause.Policy) time.Time {
	if !f.NeedsPerson() || f.IgnoredBy(policy) {
		return time.Time{}
	}
	since := f.Begun
	for _, p := range pods {
		since = evidence.Later(since, evidence.Later(p.ProgressedAt(), p.StatusChangedAt()))
	}
	return since
}

// Lasting is how long a finding has lasted, in steps, as a part of a sentence, and when
// the next step is.
func Lasting(f cause.Finding, now time.Time) (text string, next time.Time) {
	for _, step := range []struct {
		after time.Duration
		text  string
	}{
		{5 * time.Minute, "5 minutes"}, // before that it is not worth a word
		{15 * time.Minute, "15 minutes"},
		{time.Hour, "an hour"},
		{6 * time.Hour, "6 hours"},
		{24 * time.Hour, "a day"},
	} {
		if next = f.Begun.Add(step.after); now.Before(next) {
			return text, next
		}
		text = "for more than " + step.text
	}
	return text, time.Time{}
}

// IsSlow is true for a cause that only says that something takes long.
func IsSlow(c *v1.Cause) bool {
	return slices.Contains([]string{cause.SlowInit, cause.SlowPull, cause.SlowStart}, c.Code)
}
