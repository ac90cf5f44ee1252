package lifecycle

import v1 "github.com/berthdev/berth/api/v1"

// Seen is what is known of a workspace on the cluster.
type Seen struct {
	// Pods is true if it has pods; Reading is what the live picture says of them.
	Pods    bool
	Reading v1.Snapshot
	// Kept is true if what it starts from is there: its record and its configuration.
	Kept bool
	// Failure is why a change could not be applied; nil if it was, or is still to be.
	Failure *Failure
}

// Failure is a change that could not be applied.
type Failure struct {
	Incarnation string
	Changed     Revision
	Message     string
}

// Of is what is reported of a workspace, and the cause if it does not work.
func (s Seen) Of(r Record) (actual v1.ActualState, cause string) {
	switch {
	case r.Desired == v1.DesiredTerminated && !s.Pods && !s.Kept:
		return v1.ActualTerminated, ""
	case s.Failure != nil && s.Failure.Incarnation == r.Incarnation &&
		s.Failure.Changed == r.Changed: // one of an earlier change is over
		return v1.ActualError, s.Failure.Message
	case !s.Pods && !s.Kept:
		return v1.ActualUnknown, "nothing of it is on the cluster"
	case !s.Pods:
		return v1.ActualStopped, ""
	}
	return ofPods(s.Reading)
}

// ofPods is what the live picture says of the workspace's pods.
func ofPods(reading v1.Snapshot) (actual v1.ActualState, cause string) {
	if reading.Status == v1.StatusStopping {
		return v1.ActualStopping, ""
	}
	switch reading.Stage {
	case v1.StageFailed:
		return v1.ActualFailed, reading.Message
	case v1.StageRunning:
		return v1.ActualRunning, ""
	case v1.StageScheduling, v1.StagePulling, v1.StageInitializing, v1.StageStarting:
		return v1.ActualStarting, ""
	case v1.StageTerminating:
		return v1.ActualTerminating, ""
	case v1.StageStopped:
		return v1.ActualStopped, ""
	}
	return v1.ActualUnknown, reading.Message
}
