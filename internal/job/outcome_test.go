package job

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/fault"
)

func TestState(t *testing.T) {
	completed := func(code string) Record {
		return Record{
			Status: v1.JobStatusCompleted, UpdatedAt: at(0),
			Events: []v1.JobEvent{{Type: v1.JobEventProgress, ObjectName: resultName, Status: code, Message: "why"}},
		}
	}
	starting := func(r Record) Record {
		return r.append(v1.JobEvent{Type: v1.JobEventStatus, Message: "Scheduling"})
	}
	foreign := func(status, message string) Record {
		return Record{
			Status: v1.JobStatusCompleted,
			Events: []v1.JobEvent{{Type: v1.JobEventStatus, Status: status, Message: message}},
		}
	}
	for name, c := range map[string]struct {
		r    Record
		want v1.JobState
		code fault.Code
	}{
		"running": {Record{Status: v1.JobStatusRunning, UpdatedAt: at(3590)}, v1.JobRunning, ""},
		"no sign of life": {
			Record{Status: v1.JobStatusRunning, UpdatedAt: at(3500)},
			v1.JobInterrupted,
			fault.Unavailable,
		},
		"ready": {completed(StatusOK), v1.JobSucceeded, ""},
		"of a run that was killed": {
			Record{Status: v1.JobStatusRunning, UpdatedAt: at(3590), abandoned: true},
			v1.JobInterrupted, fault.Unavailable,
		},
		"created, not followed":       {starting(completed(StatusOK)), v1.JobCreated, ""},
		"failed":                      {completed("FAILED"), v1.JobFailed, fault.Failed},
		"timed out":                   {completed("DEADLINE_EXCEEDED"), v1.JobFailed, fault.DeadlineExceeded},
		"Ctrl-C":                      {completed("INTERRUPTED"), v1.JobInterrupted, fault.Interrupted},
		"of another program, ready":   {foreign("Running", "all containers are ready"), v1.JobSucceeded, ""},
		"of another program, failing": {foreign("Failing", "pull failed"), v1.JobFailed, fault.Failed},
	} {
		if got := c.r.State(at(3600)); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
		if got := fault.CodeOf(c.r.Err(at(3600))); got != c.code {
			t.Errorf("%s: %s, want %s", name, got, c.code)
		}
	}
}

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
		"UNAVAILABLE job a was interrupted: no command has worked on it since 2026-11-20T12:00:00Z": {
			Status: v1.JobStatusRunning,
		},
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

func warning(second int, reason, message string) v1.Event {
	return v1.Event{
		At:      at(second),
		Warning: &v1.Warning{Object: "pod/alice-1", Reason: reason, Message: message, Count: 1},
	}
}

func ofContainer(second int, name, reason string) v1.Event {
	e := object(second, reason, "of "+name, 1)
	e.Object.Object += ":" + name
	return e
}

func step(second int, name string, state v1.StepState, seconds float64) v1.Event {
	return v1.Event{At: at(second), Step: &v1.Step{Name: name, State: state, Seconds: seconds}}
}

func scriptOf(second int, name string, state v1.ScriptState, began, took int) v1.Event {
	return v1.Event{At: at(second), Script: &v1.Script{Name: name, State: state, At: at(began), Seconds: float64(took)}}
}

// pulling is a pull that is reported later than it began.
func pulling(second, began int) v1.Event {
	e := stage(second, v1.StagePulling, "slow:v1")
	e.Stage.Since = at(began)
	return e
}

// A timeline has what took time, each from when it began, and the warnings where they came.
func TestTimeline(t *testing.T) {
	for name, c := range map[string]struct {
		events []v1.Event
		result string // of a job that has ended, at 40
		want   []string
	}{
		"nothing": {nil, "", nil},
		"stages, one after the other": {
			[]v1.Event{
				stage(0, v1.StageScheduling, ""), stage(1, v1.StageScheduling, "waits"), stage(2, v1.StageStarting, ""),
				stage(9, v1.StageRunning, ""),
			},
			StatusOK,
			[]string{"stage Scheduling 0 2s ended", "stage Starting 2 7s ended"},
		},
		"a stage that comes back": {
			[]v1.Event{
				stage(0, v1.StageStarting, ""), stage(2, v1.StagePulling, ""), stage(5, v1.StageStarting, ""),
				stage(6, v1.StageRunning, ""),
			},
			StatusOK,
			[]string{"stage Starting 0 2s ended", "stage Pulling 2 3s ended", "stage Starting 5 1s ended"},
		},
		"a pull, since it began": {
			[]v1.Event{stage(0, v1.StageStarting, ""), pulling(9, 1), stage(13, v1.StageRunning, "")},
			StatusOK,
			[]string{"stage Starting 0 1s ended", "stage Pulling 1 12s ended"},
		},
		"a pull that began before the stage before, by another clock": {
			[]v1.Event{stage(5, v1.StageStarting, ""), pulling(9, 1), stage(13, v1.StageRunning, "")},
			StatusOK,
			[]string{"stage Starting 5 0s ended", "stage Pulling 5 8s ended"},
		},
		"the stage that has failed": {
			[]v1.Event{stage(0, v1.StageScheduling, ""), stage(1, v1.StageStarting, ""), stage(4, v1.StageFailed, "")},
			"FAILED",
			[]string{"stage Scheduling 0 1s ended", "stage Starting 1 3s failed"},
		},
		"a time-out ends the stage": {
			[]v1.Event{stage(0, v1.StageScheduling, "")},
			"DEADLINE_EXCEEDED",
			[]string{"stage Scheduling 0 40s failed"},
		},
		"one that nobody waited for does not end": {
			[]v1.Event{stage(0, v1.StageScheduling, "")},
			StatusOK,
			[]string{"stage Scheduling 0 0s begun"},
		},
		"nor does one that was interrupted": {
			[]v1.Event{stage(0, v1.StageScheduling, "")},
			"INTERRUPTED",
			[]string{"stage Scheduling 0 0s begun"},
		},
		"a job that goes on": {
			[]v1.Event{stage(0, v1.StageScheduling, "")},
			"",
			[]string{"stage Scheduling 0 0s begun"},
		},
		"steps and what they took": {
			[]v1.Event{
				step(2, "identity", v1.StepBegun, 0), step(3, "identity", v1.StepEnded, 1),
				step(4, "install", v1.StepFailed, 0),
			},
			"FAILED",
			[]string{"step identity 2 1s ended", "step install 4 0s failed"},
		},
		"init scripts, by the clock of the node": {
			[]v1.Event{
				scriptOf(9, "one", v1.ScriptRunning, 3, 0), scriptOf(9, "one", v1.ScriptDone, 3, 2),
				scriptOf(9, "two", v1.ScriptFailed, 5, 1), scriptOf(9, "three", v1.ScriptSkipped, 6, 0),
			},
			"",
			[]string{"script one 3 2s ended", "script two 5 1s failed"},
		},
		"unless that is ahead": {
			[]v1.Event{scriptOf(9, "one", v1.ScriptDone, 50, 2)},
			"",
			[]string{"script one 7 2s ended"},
		},
		"containers from their pull until they were started": {
			[]v1.Event{
				ofContainer(1, "init", "Pulled"), ofContainer(2, "init", "Created"), ofContainer(2, "init", "Started"),
				ofContainer(3, "main", "Pulling"), ofContainer(8, "main", "Pulled"), ofContainer(9, "main", "Started"),
				object(9, "Scheduled", "", 1), ofContainer(10, "lost", "Started"),
			},
			"",
			[]string{"container init 1 1s ended", "container main 3 6s ended"},
		},
		"what is called as a stage": {
			[]v1.Event{
				stage(0, v1.StageStarting, ""), ofContainer(1, "Starting", "Pulled"),
				step(2, "Starting", v1.StepEnded, 1), stage(5, v1.StageRunning, ""),
			},
			"",
			[]string{"stage Starting 0 5s ended", "container Starting 1 0s begun", "step Starting 1 1s ended"},
		},
		"containers at the same time": {
			[]v1.Event{
				ofContainer(1, "side", "Pulling"), ofContainer(2, "main", "Pulling"), ofContainer(3, "side", "Started"),
				ofContainer(5, "main", "Started"),
			},
			"",
			[]string{"container side 1 2s ended", "container main 2 3s ended"},
		},
		"warnings, where they came": {
			[]v1.Event{
				stage(0, v1.StageScheduling, ""), warning(3, "FailedMount", `configmap "x" not found`),
				warning(9, "FailedMount", `configmap "x" not found`),
			},
			"",
			[]string{"stage Scheduling 0 0s begun", `warning FailedMount 3 0s ended configmap "x" not found`},
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := fold(c.events...)
			r.Status, r.UpdatedAt = v1.JobStatusRunning, at(40)
			if c.result != "" {
				r = r.append(v1.JobEvent{Type: v1.JobEventProgress, ObjectName: resultName, Status: c.result})
				r.Status, r.FinishedAt = v1.JobStatusCompleted, new(at(40))
			}
			var got []string
			for _, s := range r.timeline() {
				line := fmt.Sprintf("%s %s %g %gs %s", s.Type, s.Name, s.BeganAt.Sub(start).Seconds(), s.Seconds,
					s.State)
				if s.Type == v1.JobSpanWarning {
					line += " " + s.Message
				}
				got = append(got, line)
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// What other programs write into a record does not make a time that cannot be printed.
func TestTimelineOfNonsense(t *testing.T) {
	for _, seconds := range []float64{1e300, -1e300, 1e-300} {
		r := Record{Events: []v1.JobEvent{{
			Type: v1.JobEventProgress, ObjectName: "x", Status: "ended",
			Timestamp: time.Date(1, 1, 1, 0, 0, 0, 0, time.UTC), Seconds: seconds,
		}}}
		for _, s := range r.timeline() {
			if _, err := s.BeganAt.MarshalJSON(); err != nil || s.Seconds < 0 {
				t.Errorf("%g: %v, %v", seconds, s, err)
			}
		}
	}
}

// A record says what the workspace was made from, and what it has failed of.
func TestRecordKnowsTheWorkspace(t *testing.T) {
	reading := func(node string, cause *v1.Cause) v1.Event {
		e := stage(1, v1.StageStarting, "")
		e.Stage.Node, e.Stage.Cause = node, cause
		e.Stage.Containers = []v1.Container{
			{Name: "proxy", Image: "proxy:v1"},
			{Name: v1.MainContainer, Image: "dev:v1"},
		}
		return e
	}
	r := Record{Blueprint: "dev"}
	for _, e := range []v1.Event{
		reading("node-1", nil), reading("", &v1.Cause{Code: "Unschedulable", Tentative: true}),
		object(2, "Scheduled", "", 1),
	} {
		r = r.seen(e)
	}
	if r.Node != "node-1" || r.Image != "dev:v1" || r.Cause != "" {
		t.Errorf("%+v", r)
	}
	r = r.seen(reading("", &v1.Cause{Code: "CrashLoop"}))
	if d := r.Document(at(9)); d.Blueprint != "dev" || d.Node != "node-1" || d.Image != "dev:v1" ||
		d.Cause != "CrashLoop" {
		t.Errorf("%+v", d)
	}
	if r = (Record{Cause: "Unschedulable"}).
		After(Record{ID: "a", Blueprint: "dev", Node: "node-1", Cause: "CrashLoop"}); r.Node != "node-1" ||
		r.Blueprint != "dev" || r.Cause != "Unschedulable" {
		t.Errorf("continued: %+v", r)
	}
}
