package job

import (
	"cmp"
	"slices"
	"strings"
	"time"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/fault"
)

// silence is the age of the last heartbeat at which a running job counts as
// interrupted: the command that works on it sends one every heartbeat.
const (
	heartbeat = 15 * time.Second
	silence   = 4 * heartbeat
)

// State is the state of the job at a time.
func (r Record) State(now time.Time) v1.JobState {
	switch code := r.code(); {
	case r.Status != v1.JobStatusCompleted && (r.abandoned || now.Sub(r.UpdatedAt) > silence):
		return v1.JobInterrupted
	case r.Status != v1.JobStatusCompleted:
		return v1.JobRunning
	case code == "" && !r.ranAtTheEnd():
		return v1.JobCreated
	case code == "":
		return v1.JobSucceeded
	case code == fault.Interrupted, code == fault.Terminated:
		return v1.JobInterrupted
	}
	return v1.JobFailed
}

// ranAtTheEnd is false for a workspace that was created and not followed: then its last
// stage is not the end of the story. Without any stage it is the result that counts.
func (r Record) ranAtTheEnd() bool {
	stage := r.Stage()
	return stage == v1.StageRunning || stage == v1.StageUnknown
}

// Stage is the last stage that was reached.
func (r Record) Stage() v1.Stage {
	if last, ok := last(r.Events, isStatus); ok {
		return stageOf(last)
	}
	return v1.StageUnknown
}

// stageOf reads the stage of an entry. Another program's entry may have only a
// status: then it is the stage that is nearest to that.
func stageOf(e v1.JobEvent) v1.Stage {
	word, _, _ := strings.Cut(e.Message, ":")
	switch stage := v1.Stage(word); stage {
	case v1.StageScheduling, v1.StagePulling, v1.StageInitializing, v1.StageStarting, v1.StageRunning,
		v1.StageTerminating, v1.StageStopped, v1.StageFailed, v1.StageUnknown:
		return stage
	}
	switch v1.Status(e.Status) {
	case v1.StatusFailing:
		return v1.StageFailed
	case v1.StatusProvisioning:
		return v1.StageStarting
	}
	return v1.Stage(e.Status)
}

// code is the code of the error that the job ended with; empty if there was
// none. Records of other programs have no result: the last stage says it.
func (r Record) code() fault.Code {
	switch result, ok := last(r.Events, isResult); {
	case ok && result.Status == StatusOK, !ok && r.Stage() == v1.StageRunning:
		return ""
	case ok:
		return fault.Code(result.Status)
	}
	return fault.Failed
}

// Err is the error that a completed job ended with, or of one that no command works on any more.
func (r Record) Err(now time.Time) error {
	state := r.State(now)
	switch {
	case state == v1.JobSucceeded || state == v1.JobCreated || state == v1.JobRunning:
		return nil
	case r.Status != v1.JobStatusCompleted:
		return fault.New(fault.Unavailable, "job %s was interrupted: no command has worked on it since %s", r.ID,
			r.UpdatedAt.UTC().Format(time.RFC3339)).
			WithHint("provision the workspace again: that continues the job or starts another")
	}
	why, ok := last(r.Events, isResult)
	if !ok { // another program's record ends with a status
		why, _ = last(r.Events, isStatus)
	}
	return fault.New(r.code(), "job %s: %s", r.ID, cmp.Or(why.Message, string(r.Stage())))
}

// Document is the record as it is printed.
func (r Record) Document(now time.Time) v1.Job {
	job := v1.Job{
		ID: r.ID, WorkspaceName: r.WorkspaceName, UserString: r.UserString, Username: r.Username,
		Status: r.Status, State: r.State(now), Stage: r.Stage(),
		CreatedAt: r.CreatedAt.UTC(), UpdatedAt: r.UpdatedAt.UTC(), Events: slices.Clone(r.Events),
		Blueprint: r.Blueprint, Node: r.Node, Image: r.Image, Cause: r.Cause, Timeline: r.timeline(),
	}
	if r.Status == v1.JobStatusCompleted {
		job.Code = string(r.code())
	}
	if r.FinishedAt != nil {
		job.FinishedAt = r.FinishedAt.UTC()
	}
	for i := range job.Events {
		job.Events[i].Timestamp = job.Events[i].Timestamp.UTC()
		if began := &job.Events[i].BeganAt; !began.IsZero() {
			*began = began.UTC()
		}
	}
	return job
}

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
			t.add(v1.JobSpan{
				Type: v1.JobSpanWarning, Name: reason, Message: message, BeganAt: e.Timestamp, State: v1.StepEnded,
			})
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

// stage ends the stage before, and begins that of an entry unless it is one that a provisioning ends in.
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
