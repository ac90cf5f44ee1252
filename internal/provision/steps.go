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

// do runs a step and says what came of it.
func (s *steps) do(name string, work func() (message string, err error)) error {
	s.Step(v1.Step{Name: name, State: v1.StepBegun})
	tell, err := s.run(name, work)
	tell()
	return err
}

// work is what a step does; the message says what came of it.
type work struct {
	name string
	do   func() (message string, err error)
	// quiet is told of only if there is something to say.
	quiet bool
}

// side runs steps side by side and tells of them in their order, up to the
// first that failed.
func (s *steps) side(works ...work) error {
	for _, w := range works {
		if !w.quiet {
			s.Step(v1.Step{Name: w.name, State: v1.StepBegun})
		}
	}
	tells, errs := make([]func(), len(works)), make([]error, len(works))
	var wg sync.WaitGroup
	for i, w := range works {
		wg.Go(func() { tells[i], errs[i] = s.run(w.name, w.do) })
	}
	wg.Wait()
	for i, tell := range tells {
		tell()
		if errs[i] != nil {
			return errs[i]
		}
	}
	return nil
}

// run runs a step that has been told of and leaves it to the caller to say what
// came of it.
func (s *steps) run(name string, work func() (message string, err error)) (tell func(), err error) {
	begun := s.now()
	message, err := work()
	step := v1.Step{Name: name, State: v1.StepEnded, Message: message, Seconds: s.now().Sub(begun).Seconds()}
	if err != nil {
		step.State = v1.StepFailed
	}
	return func() {
		s.mu.Lock()
		s.timing.Steps = append(s.timing.Steps, v1.StepTiming{Name: name, Seconds: step.Seconds})
		s.mu.Unlock()
		if err != nil || message != "" {
			s.Step(step)
		}
	}, err
}

// reached tells of a new reading and keeps how long the stage before it took.
func (s *steps) reached(snapshot v1.Snapshot) {
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

func (s *steps) closeStage(at time.Time) {
	switch s.stage {
	case "", v1.StageUnknown, v1.StageRunning, v1.StageFailed, v1.StageStopped:
		return
	}
	took := at.Sub(s.since).Seconds()
	s.timing.Stages = append(s.timing.Stages, v1.StepTiming{Name: string(s.stage), Seconds: took})
}

// total is the timing so far.
func (s *steps) total(requests int) *v1.Timing {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closeStage(s.now())
	s.stage = "" // so that it is counted once
	timing := s.timing
	timing.Seconds = s.now().Sub(s.begun).Seconds()
	timing.Requests = requests
	return &timing
}
