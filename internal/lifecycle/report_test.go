package lifecycle_test

import (
	"testing"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/lifecycle"
)

// What is reported of what is seen.
func TestSeen(t *testing.T) {
	pods := func(stage v1.Stage) lifecycle.Seen {
		return lifecycle.Seen{Pods: true, Kept: true, Reading: v1.Snapshot{Stage: stage, Status: stage.Status(), Message: "why"}}
	}
	with := func(s lifecycle.Seen, change func(*lifecycle.Seen)) lifecycle.Seen { change(&s); return s }
	failed := func(changed lifecycle.Revision) func(*lifecycle.Seen) {
		return func(s *lifecycle.Seen) { s.Failure = &lifecycle.Failure{Changed: changed, Message: "quota"} }
	}
	for name, c := range map[string]struct {
		desired lifecycle.Desired
		seen    lifecycle.Seen
		want    lifecycle.Actual
		cause   string
	}{
		"deleted and gone":             {lifecycle.DesiredTerminated, lifecycle.Seen{}, lifecycle.ActualTerminated, ""},
		"gone, with a failure":         {lifecycle.DesiredTerminated, with(lifecycle.Seen{}, failed(7)), lifecycle.ActualTerminated, ""},
		"could not be applied":         {lifecycle.DesiredRunning, with(lifecycle.Seen{Kept: true}, failed(7)), lifecycle.ActualError, "quota"},
		"an earlier change failed":     {lifecycle.DesiredRunning, with(pods(v1.StageRunning), failed(6)), lifecycle.ActualRunning, ""},
		"could not be deleted":         {lifecycle.DesiredTerminated, with(pods(v1.StageRunning), failed(7)), lifecycle.ActualError, "quota"},
		"going":                        {lifecycle.DesiredTerminated, with(pods(v1.StageRunning), func(s *lifecycle.Seen) { s.Going = true }), lifecycle.ActualTerminating, ""},
		"nothing of it is there":       {lifecycle.DesiredRunning, lifecycle.Seen{}, lifecycle.ActualUnknown, "nothing of it is on the cluster"},
		"stopped and nothing is there": {lifecycle.DesiredStopped, lifecycle.Seen{}, lifecycle.ActualUnknown, "nothing of it is on the cluster"},
		"no pod":                       {lifecycle.DesiredStopped, lifecycle.Seen{Kept: true}, lifecycle.ActualStopped, ""},
		"a pod that ends on request": {lifecycle.DesiredStopped, with(pods(v1.StageTerminating), func(s *lifecycle.Seen) {
			s.Reading.Status = v1.StatusStopping
		}), lifecycle.ActualStopping, ""},
		"a pod that ends": {lifecycle.DesiredRunning, pods(v1.StageTerminating), lifecycle.ActualTerminating, ""},
		"scheduling":      {lifecycle.DesiredRunning, pods(v1.StageScheduling), lifecycle.ActualStarting, ""},
		"pulling":         {lifecycle.DesiredRunning, pods(v1.StagePulling), lifecycle.ActualStarting, ""},
		"initializing":    {lifecycle.DesiredRunning, pods(v1.StageInitializing), lifecycle.ActualStarting, ""},
		"starting":        {lifecycle.DesiredRunning, pods(v1.StageStarting), lifecycle.ActualStarting, ""},
		"running":         {lifecycle.DesiredRunning, pods(v1.StageRunning), lifecycle.ActualRunning, ""},
		"failing":         {lifecycle.DesiredRunning, pods(v1.StageFailed), lifecycle.ActualFailed, "why"},
		"pods have ended": {lifecycle.DesiredStopped, pods(v1.StageStopped), lifecycle.ActualStopped, ""},
		"unknown":         {lifecycle.DesiredRunning, pods(v1.StageUnknown), lifecycle.ActualUnknown, "why"},
	} {
		t.Run(name, func(t *testing.T) {
			got, cause := c.seen.Of(lifecycle.Record{ID: workspace, Desired: c.desired, Changed: 7})
			if got != c.want || cause != c.cause {
				t.Errorf("%s (%s), want %s (%s)", got, cause, c.want, c.cause)
			}
		})
	}
}
