package controller

import (
	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/lifecycle"
)

// Action is what is done to bring a workspace to its desired state.
type Action string

// The actions.
const (
	Nothing Action = ""
	Start   Action = "start"
	Stop    Action = "stop"
	Delete  Action = "delete"
	// Lost is for a workspace of which nothing is left that could be started or stopped.
	Lost Action = "lost"
)

// Decide says what to do about a workspace as it stands.
func Decide(desired v1.DesiredState, seen lifecycle.Seen) Action {
	ending := seen.Pods && isEnding(seen.Reading)
	gone := !seen.Pods && !seen.Kept
	switch desired {
	case v1.DesiredTerminated:
		if !gone && !ending { // what is left then is deleted when the pods are gone
			return Delete
		}
	case v1.DesiredStopped, v1.DesiredRestart:
		switch {
		case gone:
			return Lost
		case seen.Pods && !ending:
			return Stop
		}
	case v1.DesiredRunning:
		switch {
		case gone:
			return Lost
		case !seen.Pods, isOver(seen):
			return Start
		}
	}
	return Nothing
}

// isOver is true for a pod that has ended by itself, or by its node, and does not start again:
// it is replaced. One that somebody has asked to stop is left to them.
func isOver(seen lifecycle.Seen) bool {
	return seen.Pods && seen.Reading.Ended && !isEnding(seen.Reading) && seen.Reading.Status != v1.StatusStopping
}

// isEnding is true for pods that are on their way out.
func isEnding(reading v1.Snapshot) bool {
	return reading.Stage == v1.StageTerminating || reading.Status == v1.StatusTerminating
}
