package v1

import (
	"strings"
	"time"
)

// Event is one thing that happened while a command worked: a line of `--output jsonl`. Exactly one of the fields after
// Workspace is set.
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

// ObjectEvent is an event that Kubernetes recorded about one of the workspace's objects.
type ObjectEvent struct {
	Object  string `json:"object"` // kind/name[:container]
	Type    string `json:"type"`   // Normal or Warning
	Reason  string `json:"reason"`
	Message string `json:"message"`
	Count   int    `json:"count"`
	// FirstAt and At are when it happened first and last: of events that are listed, not of those that are reported as
	// they happen.
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

// Script is one of the init scripts of a workspace, and what has become of it.
type Script struct {
	Name string `json:"name"`
	// Number is its place in the order in which they are run, from 1.
	Number int         `json:"number"`
	State  ScriptState `json:"state"`
	// Object is where it is run: pod/alice-1234567:k8shell-main.
	Object string `json:"object,omitempty"`
	// At is when it began, and Seconds how long it took, by the clock of the node.
	At      time.Time `json:"at,omitzero"`
	Seconds float64   `json:"seconds,omitempty"`
	// ExitCode is that of a script that has failed.
	ExitCode *int `json:"exitCode,omitempty"`
	// Lines are the last lines of its output: one while it runs, more once it has failed.
	Lines []string `json:"lines,omitempty"`
}

// Pod is the name of the pod in which it is run.
func (s Script) Pod() string {
	pod, _, _ := strings.Cut(strings.TrimPrefix(s.Object, "pod/"), ":")
	return pod
}

// Container is the name of the container in which it is run.
func (s Script) Container() string {
	_, container, _ := strings.Cut(s.Object, ":")
	return container
}

// ScriptState says how far an init script is.
type ScriptState string

// The states of an init script.
const (
	ScriptRunning ScriptState = "running"
	ScriptDone    ScriptState = "done"
	ScriptFailed  ScriptState = "failed"
	// ScriptSkipped is one that has run before: the home directory is kept.
	ScriptSkipped ScriptState = "skipped"
)
