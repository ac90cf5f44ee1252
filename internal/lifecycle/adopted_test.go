package lifecycle_test

import (
	"testing"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/lifecycle"
)

// A workspace without a record is meant to be as it stands; one whose pod is gone or over was not
// stopped, which would be recorded: it is meant to run, and somebody has to bring that about.
func TestAdopted(t *testing.T) {
	for actual, pending := range map[v1.ActualState]bool{
		v1.ActualRunning: false, v1.ActualStarting: false, v1.ActualFailed: false, v1.ActualStopping: false,
		v1.ActualStopped: true,
	} {
		r := lifecycle.Adopted("alice-1", "1", now(), actual, now())
		if r.Desired != v1.DesiredRunning || r.Actual != actual || r.Pending() != pending || len(r.History) != 1 {
			t.Errorf("%s, pending %t", r, r.Pending())
		}
	}
}
