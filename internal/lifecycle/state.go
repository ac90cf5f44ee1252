// Package lifecycle keeps what workspaces are meant to be, compares it with what they are,
// and says what has to be done. It decides by values alone: who reads the cluster and acts
// on it reports what is so, and gets back what to apply.
package lifecycle

import "slices"

// Desired is what a workspace is meant to be.
type Desired string

// What a workspace can be meant to be.
const (
	DesiredRunning Desired = "Running"
	DesiredStopped Desired = "Stopped"
	// DesiredRestart becomes DesiredRunning as soon as the workspace has stopped.
	DesiredRestart Desired = "RestartRequested"
	// DesiredTerminated is final.
	DesiredTerminated Desired = "Terminated"
)

// Valid is false for a state that nobody knows.
func (d Desired) Valid() bool {
	return slices.Contains([]Desired{DesiredRunning, DesiredStopped, DesiredRestart, DesiredTerminated}, d)
}

// Actual is what a workspace was last reported to be.
type Actual string

// What a workspace can be.
const (
	ActualCreationRequested Actual = "CreationRequested" // nothing was reported yet
	ActualStarting          Actual = "Starting"
	ActualRunning           Actual = "Running"
	ActualStopping          Actual = "Stopping"
	ActualStopped           Actual = "Stopped"
	ActualTerminating       Actual = "Terminating"
	ActualTerminated        Actual = "Terminated"
	ActualFailed            Actual = "Failed" // it is on the cluster and does not work
	ActualError             Actual = "Error"  // it could not be put on the cluster, or taken off it
	ActualUnknown           Actual = "Unknown"
)

// Reportable is false for a state that cannot be reported.
func (a Actual) Reportable() bool {
	return slices.Contains([]Actual{
		ActualStarting, ActualRunning, ActualStopping, ActualStopped, ActualTerminating,
		ActualTerminated, ActualFailed, ActualError, ActualUnknown,
	}, a)
}
