package cause

import (
	"time"

	"github.com/berthdev/berth/internal/watch/cause/catalog"
	"github.com/berthdev/berth/internal/watch/evidence"
)

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
