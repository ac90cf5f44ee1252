package v1

import "time"

// Diagnosis is the state of a workspace, a pod or a workload, and the cause.
type Diagnosis struct {
	TypeMeta
	// Subject is what was looked at, as kind/name.
	Subject   string `json:"subject"`
	Namespace string `json:"namespace,omitempty"`
	// UserString and Blueprint are set if the subject is a workspace.
	UserString string `json:"userString,omitempty"`
	Blueprint  string `json:"blueprint,omitempty"`
	// At is the moment that the diagnosis is about: now, the end of a recording, or
	// the newest time in a dump.
	At      time.Time `json:"at"`
	Verdict Verdict   `json:"verdict"`
	Stage   Stage     `json:"stage"`
	Status  Status    `json:"status"`
	// Startable is true for a workspace that has no pod, or one that is over, and that
	// `berth start` brings back.
	Startable bool `json:"startable,omitempty"`
	// Since is when the stage began, as far as is known.
	Since time.Time `json:"since,omitzero"`
	// FailedAt is when the stage became Failed for the first time, in seconds
	// from the first record; null if it never did.
	FailedAt *float64 `json:"failedAt" jsonschema:"nullable"`
	// Message is what the stage is about, in a few words.
	Message string `json:"message,omitempty"`
	Node    string `json:"node,omitempty"`
	// Cause is set when the verdict is failed, and when it is waiting and the
	// reason is known; null otherwise.
	Cause *Cause `json:"cause" jsonschema:"nullable"`
	// Ignored are the codes of causes that would have made the verdict failed, had
	// they not been ignored on request.
	Ignored []string `json:"ignored,omitempty"`
	// Hint says what to do about it.
	Hint       string      `json:"hint"`
	Containers []Container `json:"containers,omitempty"`
	Warnings   []Warning   `json:"warnings"`
	// Timeline has an entry for each change of stage, the earliest first. Of a
	// living cluster it has what can still be known.
	Timeline []Moment `json:"timeline"`
	// Logs are the last lines of the container that failed.
	Logs *LogTail `json:"logs,omitempty"`
	// Unread is what the caller may not read, and what the diagnosis was made
	// without, such as "list events in namespace team".
	Unread []string `json:"unread,omitempty"`
	// Skipped is what in a dump was not read, each with its place and the reason,
	// such as "dump/events.txt: a table, as kubectl get prints it without -o yaml".
	Skipped []string `json:"skipped,omitempty"`
}

// Moment is a change of stage.
type Moment struct {
	At time.Time `json:"at"`
	// Offset is in seconds from the first record.
	Offset  float64 `json:"offset"`
	Stage   Stage   `json:"stage"`
	Status  Status  `json:"status"`
	Message string  `json:"message,omitempty"`
}
