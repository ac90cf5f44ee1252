package wording

import v1 "github.com/berthdev/berth/api/v1"

// StuckText is what is said of a cause that only a person can change.
const StuckText = "this will not resolve by itself: someone has to act"

// IsStuck says whether a workspace waits for what only a person can change.
func IsStuck(s v1.Snapshot) bool { return InProgress(s) && s.Cause != nil && s.Cause.Stuck }

// WaysOut are how to leave the waiting for a workspace that is stuck, and how to end it. One
// that was there before the command is stopped rather than deleted.
func (t Title) WaysOut() []string {
	again, end := "provision", "stop"
	switch t.Verb {
	case "start", "restart":
		again = "start"
	case "exec":
		again = "exec"
	case "provision":
		end = "delete"
	}
	return []string{
		"Ctrl-C leaves it working; `" + t.Command(again) + "` follows it again.",
		"`" + t.Command(end) + "` ends it. See also --timeout and --stuck-after.",
	}
}
