package event

import (
	"fmt"
	"sync"
	"time"

	v1 "github.com/berthdev/berth/api/v1"
)

// Steps reports berth's own work on a stream, and measures how long it takes.
type Steps struct {
	*Stream
	now   func() time.Time
	begun time.Time

	mu    sync.Mutex
	steps []v1.StepTiming
}

// NewSteps begins to measure.
func NewSteps(stream *Stream, now func() time.Time) *Steps {
	return &Steps{Stream: stream, now: now, begun: now()}
}

// Step is a piece of work. The message that it returns says what came of it.
type Step struct {
	Name string
	Do   func() (message string, err error)
	// Quiet steps are reported only if there is something to say.
	Quiet bool
}

// Do runs a step and reports it.
func (s *Steps) Do(name string, do func() (message string, err error)) error {
	return s.Parallel(Step{Name: name, Do: do})
}

// Parallel runs steps in parallel and reports them in their order, up to the first one that failed.
func (s *Steps) Parallel(steps ...Step) error {
	for _, step := range steps {
		if !step.Quiet {
			s.Step(v1.Step{Name: step.Name, State: v1.StepBegun})
		}
	}
	reports, errs := make([]v1.Step, len(steps)), make([]error, len(steps))
	var wg sync.WaitGroup
	for i, step := range steps {
		wg.Go(func() { reports[i], errs[i] = s.run(step) })
	}
	wg.Wait()
	for i, report := range reports {
		s.mu.Lock()
		s.steps = append(s.steps, v1.StepTiming{Name: report.Name, Seconds: report.Seconds})
		s.mu.Unlock()
		if errs[i] != nil || report.Message != "" {
			s.Step(report)
		}
		if errs[i] != nil {
			return errs[i]
		}
	}
	return nil
}

func (s *Steps) run(step Step) (report v1.Step, err error) {
	begun := s.now()
	report = v1.Step{Name: step.Name, State: v1.StepEnded}
	if report.Message, err = step.Do(); err != nil {
		report.State, report.Message = v1.StepFailed, ""
	}
	report.Seconds = s.now().Sub(begun).Seconds()
	return report, err
}

// Note reports something worth knowing.
func (s *Steps) Note(format string, args ...any) {
	s.Progress(v1.Progress{Message: fmt.Sprintf(format, args...)})
}

// Warn reports something that may go wrong later.
func (s *Steps) Warn(reason, object, message string) {
	s.Warning(v1.Warning{Reason: reason, Object: object, Message: message, Count: 1, At: s.now().UTC()})
}

// Timing is the time of each step so far, and the number of requests.
func (s *Steps) Timing(requests int) *v1.Timing {
	s.mu.Lock()
	defer s.mu.Unlock()
	return &v1.Timing{Steps: s.steps, Seconds: s.now().Sub(s.begun).Seconds(), Requests: requests}
}
