package v1

import "time"

// State is the desired and the observed state of a workspace.
type State struct {
	Desired DesiredState `json:"desired"`
	// DesiredAt is when that was last changed.
	DesiredAt time.Time `json:"desiredAt"`
	// Reason is why it was changed if nobody asked for it: the name of a limit.
	Reason string      `json:"reason,omitempty"`
	Actual ActualState `json:"actual"`
	// Cause is why the workspace is Failed or Error.
	Cause string `json:"cause,omitempty"`
	// Next is what a limit makes of the workspace if nothing else changes it before. It comes about where something
	// enforces limits.
	Next *NextState `json:"next,omitempty"`
}

// StateChange is a change of the desired or the observed state of a workspace.
type StateChange struct {
	At      time.Time    `json:"at"`
	Desired DesiredState `json:"desired"`
	Actual  ActualState  `json:"actual"`
	// Reason is why Desired was changed if nobody asked for it: the name of a limit.
	Reason string `json:"reason,omitempty"`
	// Cause is why the workspace is Failed or Error.
	Cause string `json:"cause,omitempty"`
}

// NextState is what a limit makes of a workspace, and when.
type NextState struct {
	Desired DesiredState `json:"desired"`
	// Limit is its name, such as maxActiveHours.
	Limit string `json:"limit"`
	// From is who sets the limit.
	From LimitSource `json:"from"`
	At   time.Time   `json:"at"`
}

// LimitSource is who sets a limit.
type LimitSource string

// Limits are set by a blueprint, or else by the configuration.
const (
	LimitOfBlueprint     LimitSource = "blueprint"
	LimitOfConfiguration LimitSource = "configuration"
)

// DesiredState is the desired state of a workspace.
type DesiredState string

// The desired states.
const (
	DesiredRunning DesiredState = "Running"
	DesiredStopped DesiredState = "Stopped"
	// DesiredRestart becomes DesiredRunning as soon as the workspace has stopped.
	DesiredRestart DesiredState = "RestartRequested"
	// DesiredTerminated is final.
	DesiredTerminated DesiredState = "Terminated"
)

// ActualState is what a workspace was last reported to be.
type ActualState string

// What a workspace can be.
const (
	ActualCreationRequested ActualState = "CreationRequested" // nothing was reported yet
	ActualStarting          ActualState = "Starting"
	ActualRunning           ActualState = "Running"
	ActualStopping          ActualState = "Stopping"
	ActualStopped           ActualState = "Stopped"
	ActualTerminating       ActualState = "Terminating"
	ActualTerminated        ActualState = "Terminated"
	ActualFailed            ActualState = "Failed" // it is on the cluster and does not work
	ActualError             ActualState = "Error"  // it could not be put on the cluster, or taken off it
	ActualUnknown           ActualState = "Unknown"
)

// WorkspaceReconciliation is what `berth reconcile` did.
type WorkspaceReconciliation struct {
	TypeMeta
	// Items are the workspaces that something was to be done about.
	Items   []ReconciledWorkspace `json:"items"`
	Seconds float64               `json:"seconds"`
}

// ReconciledWorkspace is a workspace after an exchange.
type ReconciledWorkspace struct {
	ID         string       `json:"id"`
	Namespace  string       `json:"namespace"`
	UserString string       `json:"userString,omitempty"`
	Desired    DesiredState `json:"desired"`
	Actual     ActualState  `json:"actual"`
	// Reason is the name of the limit that made it so, or who works on it already.
	Reason string `json:"reason,omitempty"`
	// Done is what was done: start, stop or delete; empty for nothing.
	Done  string `json:"done,omitempty"`
	Error *Error `json:"error,omitempty"`
}
