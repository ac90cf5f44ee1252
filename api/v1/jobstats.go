package v1

import "time"

// JobStats is where the time of provisionings went, and what those failed of that failed.
// Percentiles are by nearest rank: each is a duration that one of them had.
type JobStats struct {
	TypeMeta
	// Since is the time from which on jobs are counted; absent for all that there are records of.
	Since time.Time `json:"since,omitzero"`
	// OldestAt is when the oldest job began that there is a record of: earlier ones
	// cannot be counted.
	OldestAt time.Time `json:"oldestAt,omitzero"`
	// KeptSeconds is how long records are kept.
	KeptSeconds float64 `json:"keptSeconds,omitempty"`
	// By is what the jobs are grouped by; absent if they are not.
	By JobGrouping `json:"by,omitempty"`
	// Total is all of them, and Groups are each of them, the largest first.
	Total  JobGroup   `json:"total"`
	Groups []JobGroup `json:"groups,omitempty"`
}

// JobGrouping is what jobs can be grouped by.
type JobGrouping string

// The groupings.
const (
	JobsByBlueprint JobGrouping = "blueprint"
	JobsByUser      JobGrouping = "user"
	JobsByNode      JobGrouping = "node"
	JobsByImage     JobGrouping = "image"
)

// JobGroup is some jobs, counted.
type JobGroup struct {
	// Name is the blueprint, user, node or image; empty for jobs whose records do not say it.
	Name string `json:"name,omitempty"`
	// Jobs is how many there are, and the others are how many of them are in each state.
	Jobs        int `json:"jobs"`
	Succeeded   int `json:"succeeded"`
	Failed      int `json:"failed"`
	Created     int `json:"created,omitempty"`
	Interrupted int `json:"interrupted,omitempty"`
	Running     int `json:"running,omitempty"`
	// Causes are what those failed of that failed, the most frequent first.
	Causes []JobCause `json:"causes,omitempty"`
	// UntilRunning is what those took that succeeded, from the first step.
	UntilRunning *Percentiles `json:"untilRunning,omitempty"`
	// Stages are how long each stage took that has ended, whatever came of the job; all
	// the time that one job spent in a stage is one duration.
	Stages []StagePercentiles `json:"stages,omitempty"`
}

// JobCause is how many jobs failed of one cause.
type JobCause struct {
	// Code is that of the cause; that of the error where there was none.
	Code string `json:"code"`
	Jobs int    `json:"jobs"`
}

// StagePercentiles are how long jobs were in a stage.
type StagePercentiles struct {
	Stage Stage `json:"stage"`
	Percentiles
}

// Percentiles are of durations, in seconds.
type Percentiles struct {
	// Jobs is how many durations there are.
	Jobs   int     `json:"jobs"`
	Median float64 `json:"medianSeconds"`
	P90    float64 `json:"p90Seconds"`
	Max    float64 `json:"maxSeconds"`
}
