// Package lifecycle keeps the desired state of workspaces, compares it with what they are,
// and says what has to be done. It decides by values alone: the program that reads the
// cluster and acts on it reports what is so, and gets back what to apply.
package lifecycle

import (
	"slices"

	v1 "github.com/berthdev/berth/api/v1"
)

// isDesired is false for a state that nobody knows.
func isDesired(d v1.DesiredState) bool {
	return slices.Contains([]v1.DesiredState{
		v1.DesiredRunning, v1.DesiredStopped, v1.DesiredRestart,
		v1.DesiredTerminated,
	}, d)
}

// isReportable is false for a state that cannot be reported.
func isReportable(a v1.ActualState) bool {
	return slices.Contains([]v1.ActualState{
		v1.ActualStarting, v1.ActualRunning, v1.ActualStopping, v1.ActualStopped, v1.ActualTerminating,
		v1.ActualTerminated, v1.ActualFailed, v1.ActualError, v1.ActualUnknown,
	}, a)
}
