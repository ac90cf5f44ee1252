package wording

import (
	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/fault"
)

// IsOutcome tells the errors that are how a provisioning ended from those that
// kept a command from working; the former are told as the end of the story.
func IsOutcome(e v1.Error) bool {
	switch fault.Code(e.Code) {
	case fault.Failed, fault.DeadlineExceeded:
		return true
	}
	return IsInterrupt(e)
}

func isFailed(e v1.Error) bool { return fault.Code(e.Code) == fault.Failed }

// IsInterrupt tells the errors of a command that was told to stop.
func IsInterrupt(e v1.Error) bool {
	c := fault.Code(e.Code)
	return c == fault.Interrupted || c == fault.Terminated
}
