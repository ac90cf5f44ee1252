package job

import (
	"slices"
	"strings"
	"time"

	v1 "github.com/berthdev/berth/api/v1"
)

// timeline is where the time of the job went, in the order in which it began: berth's own
// steps, the stages, what each container and each init script took, and the warnings.
func (r Record) timeline() []v1.JobSpan {
	var t timeline
	for _, e := range r.Events {
		switch {
		case isStatus(e):
			t.stage(e)
		case isResult(e):
		case e.Type == v1.JobEventProgress:
			t.work(e)
		case e.Type == v1.JobEventKubernetes && e.Status == "Warning":
			reason, message, _ := strings.Cut(e.Message, ": ")
			t.add(v1.JobSpan{Type: v1.JobSpanWarning, Name: reason, BeganAt: e.Timestamp, State: v1.StepEnded, Message: message})
		case e.Type == v1.JobEventKubernetes:
			t.container(e)
		}
	}
	// What nobody waited for any more has not ended.
	if state := r.State(r.UpdatedAt); state == v1.JobFailed && r.FinishedAt != nil {
		t.endStage(*r.FinishedAt, v1.StepFailed)
	}
	slices.SortStableFunc(t.spans, func(a, b v1.JobSpan) int { return a.BeganAt.Compare(b.BeganAt) })
	return t.spans
}

// timeline grows by one entry of a record after the other.
type timeline struct {
	spans   []v1.JobSpan
	running string // the stage that has begun and not ended; empty if there is none
}

func (t *timeline) add(s v1.JobSpan) {
	s.BeganAt = s.BeganAt.UTC()
	t.spans = append(t.spans, s)
}

// stage ends the stage before, and begins that of an entry unless it is one that a
// provisioning ends in.
func (t *timeline) stage(e v1.JobEvent) {
	stage := stageOf(e)
	if string(stage) == t.running {
		return
	}
	began := e.Timestamp
	if open := t.open(); open != nil {
		began = v1.Snapshot{Stage: stage, Since: e.BeganAt}.BeganAt(open.BeganAt, e.Timestamp)
	}
	state := v1.StepEnded
	if stage == v1.StageFailed {
		state = v1.StepFailed
	}
	t.endStage(began, state)
	if slices.Contains(passed(), stage) {
		t.running = string(stage)
		t.add(v1.JobSpan{Type: v1.JobSpanStage, Name: t.running, BeganAt: began, State: v1.StepBegun})
	}
}

// passed are the stages that a workspace goes through, in their order; it ends in the others.
func passed() []v1.Stage {
	return []v1.Stage{v1.StageTerminating, v1.StageScheduling, v1.StagePulling, v1.StageInitializing, v1.StageStarting}
}

// open is the span of the stage that has not ended; nil if there is none.
func (t *timeline) open() *v1.JobSpan {
	return t.last(func(s v1.JobSpan) bool {
		return t.running != "" && s.Type == v1.JobSpanStage && s.Name == t.running
	})
}

// last is the span that was added last of those of a kind; nil if there is none.
func (t *timeline) last(is func(v1.JobSpan) bool) *v1.JobSpan {
	for i := range slices.Backward(t.spans) {
		if is(t.spans[i]) {
			return &t.spans[i]
		}
	}
	return nil
}

func (t *timeline) endStage(at time.Time, state v1.StepState) {
	if s := t.open(); s != nil {
		end(s, at, state)
	}
	t.running = ""
}

// end ends a span: at once, where clocks differ.
func end(s *v1.JobSpan, at time.Time, state v1.StepState) {
	s.Seconds, s.State = max(at.Sub(s.BeganAt), 0).Seconds(), state
}

// work adds a step, or an init script. When a script began is said by the clock of the node,
// which is believed only if it has ended by the time it was reported.
func (t *timeline) work(e v1.JobEvent) {
	took := seconds(e.Seconds)
	span := v1.JobSpan{
		Type: v1.JobSpanStep, Name: e.ObjectName, BeganAt: e.BeganAt, Seconds: took.Seconds(),
		State: v1.StepEnded, Message: e.Message,
	}
	if script, ok := strings.CutPrefix(e.ObjectName, scriptPrefix); ok {
		span.Type, span.Name = v1.JobSpanScript, script
	}
	switch e.Status {
	case string(v1.StepEnded), string(v1.ScriptDone):
	case string(v1.StepFailed):
		span.State = v1.StepFailed
	default:
		return // a remark, or a script that has run before
	}
	if latest := e.Timestamp.Add(-took); span.BeganAt.IsZero() || span.BeganAt.After(latest) {
		span.BeganAt = latest
	}
	t.add(span)
}

// container begins the span of a container with what is done first for it, and ends it when
// it was started. Those that are started again have more than one.
func (t *timeline) container(e v1.JobEvent) {
	_, name, ok := strings.Cut(e.ObjectName, ":")
	reason, _, _ := strings.Cut(e.Message, ":")
	if !ok || !slices.Contains([]string{"Pulling", "Pulled", "Created", "Started"}, reason) {
		return
	}
	span := t.last(func(s v1.JobSpan) bool {
		return s.Type == v1.JobSpanContainer && s.Name == name && s.State == v1.StepBegun
	})
	switch {
	case span == nil && reason != "Started":
		t.add(v1.JobSpan{Type: v1.JobSpanContainer, Name: name, BeganAt: e.Timestamp, State: v1.StepBegun})
	case span != nil && reason == "Started":
		end(span, e.Timestamp, v1.StepEnded)
	}
}
