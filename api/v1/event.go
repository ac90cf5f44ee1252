package v1

import "time"

// Event is one thing that happened while a command worked: a line of
// `--output jsonl`. Exactly one of the fields after Workspace is set.
type Event struct {
	TypeMeta
	// Seq numbers the events of one command from 1, without gaps.
	Seq       uint64    `json:"seq"`
	At        time.Time `json:"at"`
	Workspace string    `json:"workspace,omitempty"`

	Stage    *Snapshot    `json:"stage,omitempty"`
	Object   *ObjectEvent `json:"object,omitempty"`
	Warning  *Warning     `json:"warning,omitempty"`
	Step     *Step        `json:"step,omitempty"`
	Script   *Script      `json:"script,omitempty"`
	Progress *Progress    `json:"progress,omitempty"`
	Result   *Result      `json:"result,omitempty"`
	// Outcome is how one of several workspaces ended; the stream goes on.
	Outcome *Result `json:"outcome,omitempty"`
}

// ObjectEvent is an event that Kubernetes recorded about one of the
// workspace's objects.
type ObjectEvent struct {
	Object  string `json:"object"` // kind/name[:container]
	Type    string `json:"type"`   // Normal or Warning
	Reason  string `json:"reason"`
	Message string `json:"message"`
	Count   int    `json:"count"`
	// FirstAt and At are when it happened first and last: of events that are
	// listed, not of those that are reported as they happen.
	FirstAt time.Time `json:"firstAt,omitzero"`
	At      time.Time `json:"at,omitzero"`
}

// StepState says how far a step is.
type StepState string

// The states of a step.
const (
	StepBegun  StepState = "begun"
	StepEnded  StepState = "ended"
	StepFailed StepState = "failed"
)

// Step is a piece of berth's own work, before the pod has any stage.
type Step struct {
	Name    string    `json:"name"`
	State   StepState `json:"state"`
	Message string    `json:"message,omitempty"`
	Seconds float64   `json:"seconds,omitempty"`
}

// Progress is a remark while something takes long, with numbers if there are any.
type Progress struct {
	Message string `json:"message"`
	Done    int64  `json:"done,omitempty"`
	Total   int64  `json:"total,omitempty"`
}

// Result ends the stream: either what was made, or why it was not.
type Result struct {
	Workspace *Workspace `json:"workspace,omitempty"`
	Deletion  *Deletion  `json:"deletion,omitempty"`
	Stop      *Stop      `json:"stop,omitempty"`
	Error     *Error     `json:"error,omitempty"`
	// Summary is what became of several workspaces.
	Summary *ProvisionSummary `json:"summary,omitempty"`
	// Deletions is what became of several workspaces that were deleted.
	Deletions *DeletionSummary `json:"deletions,omitempty"`
	// States is what became of several workspaces that were stopped, started or restarted.
	States *StateSummary `json:"states,omitempty"`
	// Installation and Removal are what became of a bundle.
	Installation *BundleInstallation `json:"installation,omitempty"`
	Removal      *BundleRemoval      `json:"removal,omitempty"`
}
