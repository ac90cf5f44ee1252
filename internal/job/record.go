package job

import (
	"slices"
	"strconv"
	"time"
)

// Record is what is known of one job, as it is stored. Its JSON is a contract
// with everything else that reads and writes such records.
type Record struct {
	// ID is a UUID: the label job-id of the pod, and the key in the store.
	ID string `json:"id"`
	// WorkspaceName is the canonical ID of the workspace.
	WorkspaceName string     `json:"workspaceName"`
	Username      string     `json:"username"`
	Status        Status     `json:"status"`
	CreatedAt     time.Time  `json:"createdAt"`
	UpdatedAt     time.Time  `json:"updatedAt"`
	FinishedAt    *time.Time `json:"finishedAt"`
	Events        []Entry    `json:"events"`
}

// Status says whether somebody is at work on the job.
type Status string

// The statuses of a record.
const (
	Running   Status = "running"
	Completed Status = "completed"
)

// Type says what an entry is about.
type Type string

// The types of entries: what Kubernetes said, the stages, berth's own work.
const (
	TypeEvent    Type = "event"
	TypeStatus   Type = "status"
	TypeProgress Type = "progress"
)

// Entry is one thing that happened.
type Entry struct {
	// ID is unique in its record, and grows.
	ID         string    `json:"id"`
	Type       Type      `json:"type"`
	Timestamp  time.Time `json:"timestamp"`
	ObjectName string    `json:"objectName"`
	Message    string    `json:"message"`
	// Status is the reported status of a stage, the type of an event of
	// Kubernetes, the state of a step, or the code of the result.
	Status string `json:"status"`
}

// Clone shares nothing with the record that it was made of.
func (r Record) Clone() Record {
	r.Events = slices.Clone(r.Events)
	return r
}

// nextID is the ID of the entry to come.
func (r Record) nextID() string {
	for _, e := range slices.Backward(r.Events) {
		if n, err := strconv.Atoi(e.ID); err == nil {
			return strconv.Itoa(n + 1)
		}
	}
	return strconv.Itoa(len(r.Events) + 1)
}

// After is the record that goes on from an earlier one of the same job: what a
// run has to say that took the job over from one that was cut off.
func (r Record) After(earlier Record) Record {
	whole := earlier.Clone()
	for _, e := range r.Events {
		bare, count := splitCount(e.Message)
		e.Message = bare
		whole = whole.add(e, atLeast(count))
	}
	whole.ID, whole.WorkspaceName, whole.Username = r.ID, r.WorkspaceName, r.Username
	whole.Status, whole.FinishedAt, whole.UpdatedAt = r.Status, r.FinishedAt, r.UpdatedAt
	return whole
}
