package deploy

import (
	"sync"
	"time"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/event"
	"github.com/berthdev/berth/internal/watch/follow"
)

// Steps reports berth's own work and the readings of a workspace on the stream,
// and measures how long the steps and the stages take.
type Steps struct {
	*event.Steps
	now func() time.Time

	mu     sync.Mutex
	stages []v1.StepTiming
	stage  v1.Stage
	since  time.Time
}

// NewSteps begins to measure.
func NewSteps(stream *event.Stream, now func() time.Time) *Steps {
	return &Steps{Steps: event.NewSteps(stream, now), now: now}
}

// Changed reports what is new about the workspace, and returns the reading.
func (s *Steps) Changed(c follow.Change, about About) v1.Snapshot {
	for _, object := range c.Objects {
		s.Object(object)
	}
	for _, warning := range c.Warnings {
		s.Warning(warning)
	}
	for _, notice := range c.Notices {
		s.Progress(notice)
	}
	reading := about.Explain(c.Snapshot)
	if c.Changed {
		s.Reached(reading)
	}
	return reading
}

// Reached reports a new reading, and measures the stage before it.
func (s *Steps) Reached(snapshot v1.Snapshot) {
	s.mu.Lock()
	if snapshot.Stage != s.stage {
		at := s.now()
		if s.stage != "" {
			at = snapshot.BeganAt(s.since, at)
		}
		s.closeStage(at)
		s.stage, s.since = snapshot.Stage, at
	}
	s.mu.Unlock()
	s.Stage(snapshot)
}

func (s *Steps) closeStage(at time.Time) {
	switch s.stage {
	case "", v1.StageUnknown, v1.StageRunning, v1.StageFailed, v1.StageStopped:
		return
	}
	took := at.Sub(s.since).Seconds()
	s.stages = append(s.stages, v1.StepTiming{Name: string(s.stage), Seconds: took})
}

// Timing is the time of each step and stage so far, and the number of requests.
func (s *Steps) Timing(requests int) *v1.Timing {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closeStage(s.now())
	s.stage = "" // so that it is counted once
	timing := s.Steps.Timing(requests)
	timing.Stages = s.stages
	return timing
}
