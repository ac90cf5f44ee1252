package provision

import (
	"sync"
	"time"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/event"
)

// steps tells the stream of berth's own work and keeps the times, and keeps
// those of the stages beside them.
type steps struct {
	*event.Stream
	now   func() time.Time
	begun time.Time

	mu     sync.Mutex
	timing v1.Timing
	stage  v1.Stage
	since  time.Time
}

func newSteps(stream *event.Stream, now func() time.Time) *steps {
	return &steps{Stream: stream, now: now, begun: now()}
}

// do runs a step. What do returns is said when it has ended; a step that says
// nothing and took no time worth mentioning is still told.
func (s *steps) do(name string, work func() (message string, err error)) error {
	begun := s.now()
	s.Step(v1.Step{Name: name, State: v1.StepBegun})
	message, err := work()
	took := s.now().Sub(begun).Seconds()
	state := v1.StepEnded
	if err != nil {
		state = v1.StepFailed
	}
	s.mu.Lock()
	s.timing.Steps = append(s.timing.Steps, v1.StepTiming{Name: name, Seconds: took})
	s.mu.Unlock()
	s.Step(v1.Step{Name: name, State: state, Message: message, Seconds: took})
	return err
}

// reached tells of a new reading and keeps how long the stage before it took.
func (s *steps) reached(snapshot v1.Snapshot) {
	s.mu.Lock()
	if snapshot.Stage != s.stage {
		s.closeStage()
		s.stage, s.since = snapshot.Stage, s.now()
	}
	s.mu.Unlock()
	s.Stage(snapshot)
}

func (s *steps) closeStage() {
	switch s.stage {
	case "", v1.StageUnknown, v1.StageRunning, v1.StageFailed, v1.StageStopped:
		return
	}
	took := s.now().Sub(s.since).Seconds()
	s.timing.Stages = append(s.timing.Stages, v1.StepTiming{Name: string(s.stage), Seconds: took})
}

// total is the timing so far.
func (s *steps) total(requests int) *v1.Timing {
	s.mu.Lock()
	defer s.mu.Unlock()
	timing := s.timing
	timing.Seconds = s.now().Sub(s.begun).Seconds()
	timing.Requests = requests
	return &timing
}
