package wording

import (
	"slices"
	"time"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/terminal/style"
)

// StageSums are the stages in the order of their first appearance, each with
// all the time that was spent in it: stages may come back.
func StageSums(t v1.Timing) []v1.StepTiming {
	var sums []v1.StepTiming
	for _, s := range t.Stages {
		i := slices.IndexFunc(sums, func(o v1.StepTiming) bool { return o.Name == s.Name })
		if i < 0 {
			sums = append(sums, s)
		} else {
			sums[i].Seconds += s.Seconds
		}
	}
	return sums
}

// Since is when a workspace that nothing was done to began to run.
func Since(w v1.Workspace, now time.Time) string {
	if w.Since.IsZero() {
		return ""
	}
	return " since " + style.Age(w.Since, now)
}

// Took is how long a command worked: its own word if its result says so, else
// the time between its first event and its last.
func Took(r v1.Result, between time.Duration) time.Duration {
	if w := r.Workspace; w != nil && w.Timing != nil && w.Timing.Seconds > 0 {
		return style.Seconds(w.Timing.Seconds)
	}
	if e := r.Error; e != nil && e.Workspace != nil && e.Workspace.Timing != nil && e.Workspace.Timing.Seconds > 0 {
		return style.Seconds(e.Workspace.Timing.Seconds)
	}
	if d := r.Deletion; d != nil && d.Seconds > 0 {
		return style.Seconds(d.Seconds)
	}
	return between
}
