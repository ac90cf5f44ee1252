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

// Err is the error that a completed job ended with, or of one that no command
// works on any more.
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
	result, _ := last(r.Events, isResult)
	return fault.New(r.code(), "job %s: %s", r.ID, cmp.Or(result.Message, string(r.Stage())))
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
