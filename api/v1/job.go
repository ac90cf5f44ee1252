package v1

import "time"

// Job is the record of one provisioning.
type Job struct {
	TypeMeta
	// ID is a UUID: the label job-id of the pod.
	ID string `json:"id"`
	// WorkspaceName is the canonical ID of the workspace.
	WorkspaceName string `json:"workspaceName"`
	// UserString is that of the workspace; records of earlier versions have none.
	UserString string    `json:"userString,omitempty"`
	Username   string    `json:"username"`
	Status     JobStatus `json:"status"`
	// State says how the job ended or, if it has not, whether a command is still working on it.
	State JobState `json:"state"`
	// Code is that of the error that the job ended with: see `berth help exit-codes`.
	Code string `json:"code,omitempty"`
	// Stage is the last one that was reached.
	Stage      Stage     `json:"stage"`
	CreatedAt  time.Time `json:"createdAt"`
	UpdatedAt  time.Time `json:"updatedAt"`
	FinishedAt time.Time `json:"finishedAt,omitzero"`
	// Blueprint, Node and Image are what the workspace was made from, where its pod was, and the image of its main
	// container, as far as the record says so: it may be of an earlier version, and a pod that was never scheduled has
	// no node.
	Blueprint string `json:"blueprint,omitempty"`
	Node      string `json:"node,omitempty"`
	Image     string `json:"image,omitempty"`
	// Cause is the code of what the workspace failed of, or was waiting for at last.
	Cause string `json:"cause,omitempty"`
	// Timeline is where the time went, in the order in which it began; a list of jobs leaves it out.
	Timeline []JobSpan `json:"timeline,omitempty"`
	// Events are what happened, the earliest first; a list of jobs leaves them out.
	Events []JobEvent `json:"events,omitempty"`
}

// JobStatus says whether a job has come to its end.
type JobStatus string

// The statuses of a job.
const (
	JobStatusRunning   JobStatus = "running"
	JobStatusCompleted JobStatus = "completed"
)

// JobState is the state of a job.
type JobState string

// The states of a job.
const (
	JobRunning   JobState = "Running"
	JobSucceeded JobState = "Succeeded"
	JobFailed    JobState = "Failed"
	// JobCreated is a job that ended once everything was created: nobody waited until the workspace ran, and what
	// became of it since is not in the record.
	JobCreated JobState = "Created"
	// JobInterrupted is a job that was stopped, or whose program was killed.
	JobInterrupted JobState = "Interrupted"
)

// JobEventType says what an entry of a job is about.
type JobEventType string

// The types: what Kubernetes said, a stage that was reached, berth's own work.
const (
	JobEventKubernetes JobEventType = "event"
	JobEventStatus     JobEventType = "status"
	JobEventProgress   JobEventType = "progress"
)

// JobEvent is one thing that happened. Repeats are counted in the message: in NATS each has an entry of its own, in the
// cluster all have one.
type JobEvent struct {
	ID         string       `json:"id"`
	Type       JobEventType `json:"type"`
	Timestamp  time.Time    `json:"timestamp"`
	ObjectName string       `json:"objectName"`
	Message    string       `json:"message"`
	Status     string       `json:"status"`
	// BeganAt and Seconds are when it began and how long it took, of what is reported later than it began: a step, an
	// init script, a pull.
	BeganAt time.Time `json:"beganAt,omitzero"`
	Seconds float64   `json:"seconds,omitempty"`
}

// JobSpan is a part of the time that a provisioning took, or a warning on the way.
type JobSpan struct {
	Type JobSpanType `json:"type"`
	// Name is that of the step, stage, container or init script, or the reason of the warning.
	Name    string    `json:"name"`
	BeganAt time.Time `json:"beganAt"`
	// Seconds is how long it took; absent for a warning, and for what had not ended when the record did.
	Seconds float64   `json:"seconds,omitempty"`
	State   StepState `json:"state"`
	Message string    `json:"message,omitempty"`
}

// JobSpanType says what a span is of.
type JobSpanType string

// The types of a span. That of a container is from its pull, or its creation, until it was started.
const (
	JobSpanStep      JobSpanType = "step"
	JobSpanStage     JobSpanType = "stage"
	JobSpanContainer JobSpanType = "container"
	JobSpanScript    JobSpanType = "script"
	JobSpanWarning   JobSpanType = "warning"
)

// JobList is a list of jobs, the newest first.
type JobList struct {
	TypeMeta
	Items []Job `json:"items"`
	// States is how the states of the workspace have changed, the oldest first; of one workspace alone.
	States []StateChange `json:"states,omitempty"`
}

// JobStats is where the time of provisionings went, and what those failed of that failed. Percentiles are by nearest
// rank: each is a duration that one of them had.
type JobStats struct {
	TypeMeta
	// Since is the time from which on jobs are counted; absent for all that there are records of.
	Since time.Time `json:"since,omitzero"`
	// OldestAt is when the oldest job began that there is a record of: earlier ones cannot be counted.
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
	// Stages are how long each stage took that has ended, whatever came of the job; all the time that one job spent in
	// a stage is one duration.
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
