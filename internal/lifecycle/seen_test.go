package lifecycle_test

import (
	"testing"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/lifecycle"
)

// What is reported of what is seen.
func TestSeen(t *testing.T) {
	pods := func(stage v1.Stage) lifecycle.Seen {
		return lifecycle.Seen{
			Pods: true, Kept: true,
			Reading: v1.Snapshot{Stage: stage, Status: stage.Status(), Message: "why"},
		}
	}
	with := func(s lifecycle.Seen, change func(*lifecycle.Seen)) lifecycle.Seen { change(&s); return s }
	failed := func(changed lifecycle.Revision) func(*lifecycle.Seen) {
		return func(s *lifecycle.Seen) { s.Failure = &lifecycle.Failure{Changed: changed, Message: "quota"} }
	}
	for name, c := range map[string]struct {
		desired v1.DesiredState
		seen    lifecycle.Seen
		want    v1.ActualState
		cause   string
	}{
		"deleted and gone":     {v1.DesiredTerminated, lifecycle.Seen{}, v1.ActualTerminated, ""},
		"gone, with a failure": {v1.DesiredTerminated, with(lifecycle.Seen{}, failed(7)), v1.ActualTerminated, ""},
		"could not be applied": {
			v1.DesiredRunning, with(lifecycle.Seen{Kept: true}, failed(7)), v1.ActualError,
			"quota",
		},
		"an earlier change failed": {v1.DesiredRunning, with(pods(v1.StageRunning), failed(6)), v1.ActualRunning, ""},
		"could not be deleted": {
			v1.DesiredTerminated, with(pods(v1.StageRunning), failed(7)), v1.ActualError,
			"quota",
		},
		"nothing of it is there": {
			v1.DesiredRunning,
			lifecycle.Seen{},
			v1.ActualUnknown,
			"nothing of it is on the cluster",
		},
		"stopped and nothing is there": {
			v1.DesiredStopped,
			lifecycle.Seen{},
			v1.ActualUnknown,
			"nothing of it is on the cluster",
		},
		"no pod": {v1.DesiredStopped, lifecycle.Seen{Kept: true}, v1.ActualStopped, ""},
		"a pod that ends on request": {v1.DesiredStopped, with(pods(v1.StageTerminating), func(s *lifecycle.Seen) {
			s.Reading.Status = v1.StatusStopping
		}), v1.ActualStopping, ""},
		"a pod that ends": {v1.DesiredRunning, pods(v1.StageTerminating), v1.ActualTerminating, ""},
		"scheduling":      {v1.DesiredRunning, pods(v1.StageScheduling), v1.ActualStarting, ""},
		"pulling":         {v1.DesiredRunning, pods(v1.StagePulling), v1.ActualStarting, ""},
		"initializing":    {v1.DesiredRunning, pods(v1.StageInitializing), v1.ActualStarting, ""},
		"starting":        {v1.DesiredRunning, pods(v1.StageStarting), v1.ActualStarting, ""},
		"running":         {v1.DesiredRunning, pods(v1.StageRunning), v1.ActualRunning, ""},
		"failing":         {v1.DesiredRunning, pods(v1.StageFailed), v1.ActualFailed, "why"},
		"pods have ended": {v1.DesiredStopped, pods(v1.StageStopped), v1.ActualStopped, ""},
		"unknown":         {v1.DesiredRunning, pods(v1.StageUnknown), v1.ActualUnknown, "why"},
	} {
		t.Run(name, func(t *testing.T) {
			got, cause := c.seen.Of(lifecycle.Record{ID: workspace, Desired: c.desired, Changed: 7})
			if got != c.want || cause != c.cause {
				t.Errorf("%s (%s), want %s (%s)", got, cause, c.want, c.cause)
			}
		})
	}
}
