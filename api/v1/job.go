package v1

import "time"

// Job is the record of one provisioning.
type Job struct {
	TypeMeta
	// ID is a UUID: the label job-id of the pod.
	ID string `json:"id"`
	// WorkspaceName is the canonical ID of the workspace.
	WorkspaceName string    `json:"workspaceName"`
	Username      string    `json:"username"`
	Status        JobStatus `json:"status"`
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
}

// JobList is a list of jobs, the newest first.
type JobList struct {
	TypeMeta
	Items []Job `json:"items"`
	// States is how the states of the workspace have changed, the oldest first; of one
	// workspace alone.
	States []StateChange `json:"states,omitempty"`
}
