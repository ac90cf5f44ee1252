package job

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	v1 "github.com/berthdev/berth/api/v1"
)

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
				line := fmt.Sprintf("%s %s %g %gs %s", s.Type, s.Name, s.BeganAt.Sub(start).Seconds(), s.Seconds, s.State)
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
		e.Stage.Containers = []v1.Container{{Name: "proxy", Image: "proxy:v1"}, {Name: v1.MainContainer, Image: "dev:v1"}}
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
