package lifecycle_test

import (
	"testing"
	"time"

	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/lifecycle"
)

// What a workspace is meant to be after a user has said so.
func TestSet(t *testing.T) {
	begin := time.Date(2026, time.November, 22, 12, 0, 0, 0, time.UTC)
	later := begin.Add(time.Hour)
	type state struct {
		desired lifecycle.Desired
		actual  lifecycle.Actual
	}
	for name, c := range map[string]struct {
		is   state
		set  lifecycle.Desired
		want lifecycle.Desired
		code fault.Code
	}{
		"stopped":                 {state{lifecycle.DesiredRunning, lifecycle.ActualRunning}, lifecycle.DesiredStopped, lifecycle.DesiredStopped, ""},
		"restarted":               {state{lifecycle.DesiredRunning, lifecycle.ActualFailed}, lifecycle.DesiredRestart, lifecycle.DesiredRestart, ""},
		"restarted while it goes": {state{lifecycle.DesiredStopped, lifecycle.ActualStopping}, lifecycle.DesiredRestart, lifecycle.DesiredRestart, ""},
		"restarted when stopped":  {state{lifecycle.DesiredStopped, lifecycle.ActualStopped}, lifecycle.DesiredRestart, lifecycle.DesiredRunning, ""},
		"stopped on its restart":  {state{lifecycle.DesiredRestart, lifecycle.ActualStopping}, lifecycle.DesiredStopped, lifecycle.DesiredStopped, ""},
		"deleted":                 {state{lifecycle.DesiredStopped, lifecycle.ActualError}, lifecycle.DesiredTerminated, lifecycle.DesiredTerminated, ""},
		"deleted twice":           {state{lifecycle.DesiredTerminated, lifecycle.ActualTerminating}, lifecycle.DesiredTerminated, lifecycle.DesiredTerminated, ""},
		"started after deletion":  {state{lifecycle.DesiredTerminated, lifecycle.ActualTerminated}, lifecycle.DesiredRunning, lifecycle.DesiredTerminated, fault.Conflict},
		"unknown":                 {state{lifecycle.DesiredRunning, lifecycle.ActualRunning}, "Paused", lifecycle.DesiredRunning, fault.InvalidArgument},
	} {
		t.Run(name, func(t *testing.T) {
			r := lifecycle.New(workspace, "1", begin)
			r.Desired, r.Actual, r.Answered = c.is.desired, c.is.actual, r.Changed
			got, err := r.Set(c.set, later)
			if fault.CodeOf(err) != c.code || got.Desired != c.want {
				t.Fatalf("%s, %v; want %s, %q", got, err, c.want, c.code)
			}
			changed := c.want != c.is.desired
			if got.Pending() != changed || got.DesiredAt.Equal(later) != changed {
				t.Errorf("pending %t since %s, want a change: %t", got.Pending(), got.DesiredAt, changed)
			}
		})
	}
}
