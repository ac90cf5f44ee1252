package lifecycle_test

import (
	"testing"
	"time"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/lifecycle"
)

// What a workspace is meant to be after a user has said so.
func TestSet(t *testing.T) {
	begin := time.Date(2026, time.November, 22, 12, 0, 0, 0, time.UTC)
	later := begin.Add(time.Hour)
	type state struct {
		desired v1.DesiredState
		actual  v1.ActualState
	}
	for name, c := range map[string]struct {
		is   state
		set  v1.DesiredState
		want v1.DesiredState
		code fault.Code
	}{
		"stopped":                 {state{v1.DesiredRunning, v1.ActualRunning}, v1.DesiredStopped, v1.DesiredStopped, ""},
		"restarted":               {state{v1.DesiredRunning, v1.ActualFailed}, v1.DesiredRestart, v1.DesiredRestart, ""},
		"restarted while it goes": {state{v1.DesiredStopped, v1.ActualStopping}, v1.DesiredRestart, v1.DesiredRestart, ""},
		"restarted when stopped":  {state{v1.DesiredStopped, v1.ActualStopped}, v1.DesiredRestart, v1.DesiredRunning, ""},
		"stopped on its restart":  {state{v1.DesiredRestart, v1.ActualStopping}, v1.DesiredStopped, v1.DesiredStopped, ""},
		"deleted":                 {state{v1.DesiredStopped, v1.ActualError}, v1.DesiredTerminated, v1.DesiredTerminated, ""},
		"deleted twice": {
			state{v1.DesiredTerminated, v1.ActualTerminating},
			v1.DesiredTerminated,
			v1.DesiredTerminated, "",
		},
		"started after deletion": {
			state{v1.DesiredTerminated, v1.ActualTerminated},
			v1.DesiredRunning,
			v1.DesiredTerminated, fault.Conflict,
		},
		"unknown": {
			state{v1.DesiredRunning, v1.ActualRunning},
			"Paused", v1.DesiredRunning,
			fault.InvalidArgument,
		},
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
