package result_test

import (
	"strings"
	"testing"
	"time"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/terminal/result"
	"github.com/berthdev/berth/internal/terminal/style"
	"github.com/berthdev/berth/internal/terminal/terminaltest"
)

// A limit is said with what it makes of the workspace, when, and where it is set; a wide list
// has a column of it if there is any.
func TestLimits(t *testing.T) {
	in := func(d time.Duration) time.Time { return terminaltest.Now.Add(d) }
	next := func(desired v1.DesiredState, limit string, from v1.LimitSource, at time.Time) *v1.NextState {
		return &v1.NextState{Desired: desired, Limit: limit, From: from, At: at}
	}
	for name, c := range map[string]struct {
		state     v1.State
		one, list string
	}{
		"none": {v1.State{Desired: v1.DesiredRunning, Actual: v1.ActualRunning}, "", ""},
		"to be stopped": {
			v1.State{
				Desired: v1.DesiredRunning, Actual: v1.ActualRunning,
				Next: next(v1.DesiredStopped, "maxActiveHours", v1.LimitOfBlueprint, in(3*time.Hour)),
			},
			"stops in 3h (maxActiveHours of the blueprint)", "stops in 3h",
		},
		"to be deleted": {
			v1.State{
				Desired: v1.DesiredStopped, Actual: v1.ActualStopped,
				Next: next(v1.DesiredTerminated, "maxStoppedHours", v1.LimitOfConfiguration, in(48*time.Hour)),
			},
			"is deleted in 2d (maxStoppedHours of the configuration)", "is deleted in 2d",
		},
		"stopped by one": {
			v1.State{
				Desired: v1.DesiredStopped, Actual: v1.ActualStopped, Reason: "maxActiveHours",
				DesiredAt: in(-4 * time.Hour),
			},
			"stopped 4h ago by maxActiveHours", "",
		},
		"stopped by one, to be deleted by another": {
			v1.State{
				Desired: v1.DesiredStopped, Actual: v1.ActualStopped, Reason: "maxActiveHours",
				DesiredAt: in(-4 * time.Hour),
				Next:      next(v1.DesiredTerminated, "maxAgeHours", v1.LimitOfBlueprint, in(5*time.Minute)),
			},
			"stopped 4h ago by maxActiveHours; is deleted in 5m (maxAgeHours of the blueprint)", "is deleted in 5m",
		},
		"stopping by one": {
			v1.State{
				Desired: v1.DesiredStopped, Actual: v1.ActualRunning, Reason: "maxActiveHours",
				DesiredAt: in(-3 * time.Second),
			},
			"set to stop 3s ago by maxActiveHours", "",
		},
		"deleted by one": {
			v1.State{
				Desired: v1.DesiredTerminated, Actual: v1.ActualRunning, Reason: "maxAgeHours",
				DesiredAt: in(-3 * time.Second),
			},
			"set to be deleted 3s ago by maxAgeHours", "",
		},
		"not enforced": {
			v1.State{
				Desired: v1.DesiredRunning, Actual: v1.ActualRunning,
				Next: next(v1.DesiredStopped, "maxActiveHours", v1.LimitOfBlueprint, in(-4*time.Hour)),
			},
			"was to stop 4h ago (maxActiveHours of the blueprint)", "was to stop 4h ago",
		},
		"its deletion is not enforced": {
			v1.State{
				Desired: v1.DesiredRunning, Actual: v1.ActualRunning,
				Next: next(v1.DesiredTerminated, "maxAgeHours", v1.LimitOfBlueprint, in(-4*time.Hour)),
			},
			"was to be deleted 4h ago (maxAgeHours of the blueprint)", "was to be deleted 4h ago",
		},
	} {
		t.Run(name, func(t *testing.T) {
			list := terminaltest.Fleet()
			list.Items = list.Items[:2]
			list.Items[0].State = &c.state
			one := printed(t, "text", result.Workspace{Workspace: list.Items[0]}, 0, style.NoColour)
			line := ""
			for l := range strings.Lines(one) {
				if text, ok := strings.CutPrefix(l, "Limit:"); ok {
					line = strings.TrimSpace(text)
				}
			}
			if line != c.one {
				t.Errorf("%q, want %q", line, c.one)
			}
			wide := printed(t, "wide", result.Workspaces{WorkspaceList: *list}, 0, style.NoColour)
			if strings.Contains(wide, "LIMIT") != (c.list != "") || !strings.Contains(wide, c.list) {
				t.Errorf("%s\nwant %q", wide, c.list)
			}
			if text := printed(t, "text", result.Workspaces{WorkspaceList: *list}, 0,
				style.NoColour); strings.Contains(text,
				"LIMIT") {
				t.Errorf("a list that is not wide has it: %s", text)
			}
		})
	}
}
