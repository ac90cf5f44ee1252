package job

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/fault"
)

// The stage of an entry is its first word, or what is nearest to the status of another program's.
func TestStageOf(t *testing.T) {
	for _, c := range []struct {
		status, message string
		want            v1.Stage
	}{
		{"Provisioning", "Scheduling", v1.StageScheduling},
		{"Provisioning", "Initializing: 1 of 2", v1.StageInitializing},
		{"Pulling", "Pulling: dev:1", v1.StagePulling},
		{"", "Starting", v1.StageStarting},
		{"", "Running: ready", v1.StageRunning},
		{"", "Terminating", v1.StageTerminating},
		{"", "Stopped", v1.StageStopped},
		{"", "Failed: no", v1.StageFailed},
		{"Running", "Unknown", v1.StageUnknown},
		{"Failing", "pull failed", v1.StageFailed},
		{"Provisioning", "container created", v1.StageStarting},
		{"Running", "all is well", v1.StageRunning},
		{"Pulling", "", v1.StagePulling},
		{"Odd", "", "Odd"},
	} {
		if got := stageOf(v1.JobEvent{Status: c.status, Message: c.message}); got != c.want {
			t.Errorf("%q, %q: %s, want %s", c.status, c.message, got, c.want)
		}
	}
}

// A job that nobody has heard of for a minute is interrupted.
func TestSilence(t *testing.T) {
	r := Record{Status: v1.JobStatusRunning, UpdatedAt: at(0)}
	for age, want := range map[time.Duration]v1.JobState{
		0: v1.JobRunning, time.Minute: v1.JobRunning, time.Minute + time.Millisecond: v1.JobInterrupted,
		-time.Hour: v1.JobRunning,
	} {
		if got := r.State(at(0).Add(age)); got != want {
			t.Errorf("after %s: %s, want %s", age, got, want)
		}
	}
}

// The error of a job says what its record says: the result, or the last stage.
func TestErr(t *testing.T) {
	result := func(code fault.Code, message string) []v1.JobEvent {
		return []v1.JobEvent{
			{Type: v1.JobEventStatus, Message: "Failed: x"},
			{Type: v1.JobEventProgress, ObjectName: resultName, Status: string(code), Message: message},
		}
	}
	for want, r := range map[string]Record{
		"FAILED job a: no such image": {Events: result(fault.Failed, "no such image"), Status: v1.JobStatusCompleted},
		"INTERRUPTED job a: Failed":   {Events: result(fault.Interrupted, ""), Status: v1.JobStatusCompleted},
		"TERMINATED job a: stopped":   {Events: result(fault.Terminated, "stopped"), Status: v1.JobStatusCompleted},
		"FAILED job a: Unknown":       {Status: v1.JobStatusCompleted},
		"UNAVAILABLE job a was interrupted: no command has worked on it since 2026-11-20T12:00:00Z": {Status: v1.JobStatusRunning},
	} {
		r.ID, r.UpdatedAt = "a", at(0).In(time.FixedZone("far", 3600))
		err := r.Err(at(3600))
		if got := string(fault.CodeOf(err)) + " " + err.Error(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
		if hint := fault.From(err).Hint; (hint != "") != strings.HasPrefix(want, "UNAVAILABLE") {
			t.Errorf("%s: the hint is %q", want, hint)
		}
		if r.Status == v1.JobStatusCompleted {
			if got := r.Document(at(3600)).Code; !strings.HasPrefix(want, got+" ") {
				t.Errorf("%s: the code is %q", want, got)
			}
		}
	}
}

// What is printed is in UTC, whatever was recorded, which does not change.
func TestDocument(t *testing.T) {
	far := time.FixedZone("far", 3600)
	r := Record{
		ID: "a", WorkspaceName: "alice-1", UserString: "alice~dev", Username: "alice", Status: v1.JobStatusRunning,
		CreatedAt: at(0).In(far), UpdatedAt: at(5).In(far),
		Blueprint: "dev", Node: "node-1", Image: "dev:v1", Cause: "CrashLoop",
		Events: []v1.JobEvent{
			{ID: "1", Type: v1.JobEventStatus, Timestamp: at(1).In(far), BeganAt: at(0).In(far), Message: "Pulling"},
			{ID: "2", Type: v1.JobEventProgress, Timestamp: at(2).In(far), Message: "x"},
		},
	}
	want := v1.Job{
		ID: "a", WorkspaceName: "alice-1", UserString: "alice~dev", Username: "alice", Status: v1.JobStatusRunning,
		State: v1.JobRunning, Stage: v1.StagePulling,
		CreatedAt: at(0), UpdatedAt: at(5), Blueprint: "dev", Node: "node-1", Image: "dev:v1", Cause: "CrashLoop",
		Events: []v1.JobEvent{
			{ID: "1", Type: v1.JobEventStatus, Timestamp: at(1), BeganAt: at(0), Message: "Pulling"},
			{ID: "2", Type: v1.JobEventProgress, Timestamp: at(2), Message: "x"},
		},
		Timeline: []v1.JobSpan{{Type: v1.JobSpanStage, Name: "Pulling", BeganAt: at(1), State: v1.StepBegun}},
	}
	inUTC := cmp.Comparer(func(a, b time.Time) bool { return a.Equal(b) && a.Location() == b.Location() })
	if diff := cmp.Diff(want, r.Document(at(6)), inUTC); diff != "" {
		t.Errorf("running (-want +got):\n%s", diff)
	}
	r.Status, r.FinishedAt = v1.JobStatusCompleted, new(at(7).In(far))
	r.Events = append(r.Events, v1.JobEvent{
		ID: "3", Type: v1.JobEventProgress, Timestamp: at(7), ObjectName: resultName,
		Status: StatusOK,
	})
	got := r.Document(at(3600))
	if got.State != v1.JobCreated || got.Code != "" || !got.FinishedAt.Equal(at(7)) ||
		got.FinishedAt.Location() != time.UTC {
		t.Errorf("completed: %+v", got)
	}
	if r.Events[0].Timestamp.Location() != far || r.Events[0].BeganAt.Location() != far {
		t.Error("the record is changed by being printed")
	}
}
