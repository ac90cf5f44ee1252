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
	// State says how the job ended or, if it has not, whether a command is still
	// working on it.
	State JobState `json:"state"`
	// Code is that of the error that the job ended with: see `berth help exit-codes`.
	Code string `json:"code,omitempty"`
	// Stage is the last one that was reached.
	Stage      Stage     `json:"stage"`
	CreatedAt  time.Time `json:"createdAt"`
	UpdatedAt  time.Time `json:"updatedAt"`
	FinishedAt time.Time `json:"finishedAt,omitzero"`
	// Blueprint, Node and Image are what the workspace was made from, where its pod was, and
	// the image of its main container, as far as the record says so: it may be of an earlier
	// version, and a pod that was never scheduled has no node.
	Blueprint string `json:"blueprint,omitempty"`
	Node      string `json:"node,omitempty"`
	Image     string `json:"image,omitempty"`
	// Cause is the code of what the workspace failed of, or was waiting for at last.
	Cause string `json:"cause,omitempty"`
	// Timeline is where the time went, in the order in which it began; a list of jobs
	// leaves it out.
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
	// JobCreated is a job that ended once everything was created: nobody waited until the
	// workspace ran, and what became of it since is not in the record.
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

// JobEvent is one thing that happened. Repeats are counted in the message: in NATS each has
// an entry of its own, in the cluster all have one.
type JobEvent struct {
	ID         string       `json:"id"`
	Type       JobEventType `json:"type"`
	Timestamp  time.Time    `json:"timestamp"`
	ObjectName string       `json:"objectName"`
	Message    string       `json:"message"`
	Status     string       `json:"status"`
	// BeganAt and Seconds are when it began and how long it took, of what is reported
	// later than it began: a step, an init script, a pull.
	BeganAt time.Time `json:"beganAt,omitzero"`
	Seconds float64   `json:"seconds,omitempty"`
}

// JobSpan is a part of the time that a provisioning took, or a warning on the way.
type JobSpan struct {
	Type JobSpanType `json:"type"`
	// Name is that of the step, stage, container or init script, or the reason of the
	// warning.
	Name    string    `json:"name"`
	BeganAt time.Time `json:"beganAt"`
	// Seconds is how long it took; absent for a warning, and for what had not ended when
	// the record did.
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
	// States is how the states of the workspace have changed, the oldest first; of one
	// workspace alone.
	States []StateChange `json:"states,omitempty"`
}
