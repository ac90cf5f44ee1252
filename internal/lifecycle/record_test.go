package lifecycle_test

import (
	"fmt"
	"strings"
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
		"stopped": {
			state{v1.DesiredRunning, v1.ActualRunning},
			v1.DesiredStopped, v1.DesiredStopped,
			"",
		},
		"restarted": {
			state{v1.DesiredRunning, v1.ActualFailed},
			v1.DesiredRestart, v1.DesiredRestart,
			"",
		},
		"restarted while it goes": {
			state{v1.DesiredStopped, v1.ActualStopping},
			v1.DesiredRestart, v1.DesiredRestart,
			"",
		},
		"restarted when stopped": {
			state{v1.DesiredStopped, v1.ActualStopped},
			v1.DesiredRestart, v1.DesiredRunning,
			"",
		},
		"stopped on its restart": {
			state{v1.DesiredRestart, v1.ActualStopping},
			v1.DesiredStopped, v1.DesiredStopped,
			"",
		},
		"deleted": {
			state{v1.DesiredStopped, v1.ActualError},
			v1.DesiredTerminated,
			v1.DesiredTerminated, "",
		},
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

// The history has each pair of states once, in their order, no matter who has changed them.
func TestHistory(t *testing.T) {
	r := lifecycle.New("a", "1", now())
	report := func(actual v1.ActualState, cause string) {
		records := map[string]lifecycle.Record{"a": r}
		changed, _, err := lifecycle.Exchange(records,
			lifecycle.Report{Workspaces: []lifecycle.Reported{{ID: "a", Actual: actual, Cause: cause}}},
			unlimited, lifecycle.NextMark(records, now().Add(time.Minute)))
		if err != nil {
			t.Fatal(err)
		}
		r = changed["a"]
	}
	report(v1.ActualStarting, "")
	report(v1.ActualStarting, "")
	report(v1.ActualFailed, "it crashes")
	var err error
	if r, err = r.Set(v1.DesiredRestart, now()); err != nil {
		t.Fatal(err)
	}
	r = r.Observed(v1.ActualStopped, "", now())
	report(v1.ActualRunning, "")
	var steps []string
	for _, c := range r.History {
		steps = append(steps, strings.TrimSpace(fmt.Sprintf("%s %s %s", c.Desired, c.Actual, c.Cause)))
	}
	const want = "Running CreationRequested, Running Starting, Running Failed it crashes, RestartRequested " +
		"Failed it crashes, " +
		"RestartRequested Stopped, Running Stopped, Running Running"
	if got := strings.Join(steps, ", "); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// Of a long history the newest is kept, and a record does not change what another one has.
func TestHistoryIsBounded(t *testing.T) {
	r := lifecycle.New("a", "1", now())
	for i := range 100 {
		before, copied := r, append([]v1.StateChange(nil), r.History...)
		r = r.Observed(v1.ActualFailed, fmt.Sprint(i), now())
		if fmt.Sprint(before.History) != fmt.Sprint(copied) {
			t.Fatal("the history of an earlier record has changed")
		}
	}
	if n := len(r.History); n != 16 || r.History[15].Cause != "99" || r.History[0].Cause != "84" {
		t.Errorf("%d changes, from %q", n, r.History[0].Cause)
	}
}

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
