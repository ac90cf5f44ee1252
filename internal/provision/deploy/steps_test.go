package deploy

import (
	"testing"
	"time"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/event"
)

// A pull is reported 8 s late; the time since it began is its own all the same, as
// far as the cluster's clock can be believed.
func TestPullIsMeasuredFromItsBegin(t *testing.T) {
	began := time.Date(2026, 11, 20, 23, 50, 25, 0, time.UTC)
	after := func(seconds int) time.Time { return began.Add(time.Duration(seconds) * time.Second) }
	for name, test := range map[string]struct {
		since             time.Time
		starting, pulling float64
	}{
		"since a second after":            {after(3), 1, 12},
		"since an unknown time":           {time.Time{}, 9, 4},
		"a clock that is behind":          {after(-60), 0, 13},
		"a clock that is ahead":           {after(70), 9, 4},
		"a pull that began with Starting": {after(2), 0, 13},
	} {
		now := began
		s := NewSteps(event.NewStream("alice", func() time.Time { return now }), func() time.Time { return now })
		reach := func(seconds int, stage v1.Stage, since time.Time) {
			now = after(seconds)
			s.Reached(v1.Snapshot{Stage: stage, Since: since})
		}
		reach(0, v1.StageScheduling, time.Time{})
		reach(2, v1.StageStarting, time.Time{})
		reach(11, v1.StagePulling, test.since)
		reach(15, v1.StageStarting, after(3)) // only a pull is reported late
		reach(16, v1.StageRunning, time.Time{})
		stages := s.Timing(0).Stages
		want := []v1.StepTiming{
			{Name: "Scheduling", Seconds: 2},
			{Name: "Starting", Seconds: test.starting},
			{Name: "Pulling", Seconds: test.pulling},
			{Name: "Starting", Seconds: 1},
		}
		if len(stages) != len(want) {
			t.Fatalf("%s: %+v", name, stages)
		}
		for i, stage := range stages {
			if stage != want[i] {
				t.Errorf("%s: %+v, want %+v", name, stage, want[i])
			}
		}
	}
}
