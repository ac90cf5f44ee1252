package job

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	v1 "github.com/berthdev/berth/api/v1"
)

func TestPercentiles(t *testing.T) {
	for _, c := range []struct {
		durations []float64
		want      v1.Percentiles
	}{
		{[]float64{4}, v1.Percentiles{Jobs: 1, Median: 4, P90: 4, Max: 4}},
		{[]float64{9, 1}, v1.Percentiles{Jobs: 2, Median: 1, P90: 9, Max: 9}},
		{[]float64{3, 1, 2}, v1.Percentiles{Jobs: 3, Median: 2, P90: 3, Max: 3}},
		{[]float64{10, 9, 8, 7, 6, 5, 4, 3, 2, 1}, v1.Percentiles{Jobs: 10, Median: 5, P90: 9, Max: 10}},
		{[]float64{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}, v1.Percentiles{Jobs: 11, Median: 6, P90: 10, Max: 11}},
	} {
		if diff := cmp.Diff(c.want, percentiles(c.durations)); diff != "" {
			t.Errorf("%v: %s", c.durations, diff)
		}
	}
}

// spans are stages that have ended.
func spans(seconds map[v1.Stage]float64) (all []v1.JobSpan) {
	for stage, s := range seconds {
		all = append(all, v1.JobSpan{Type: v1.JobSpanStage, Name: string(stage), Seconds: s, State: v1.StepEnded})
	}
	return all
}

func TestStats(t *testing.T) {
	jobs := []v1.Job{
		{
			Username: "alice", Node: "a", Image: "one", Blueprint: "dev", State: v1.JobSucceeded, CreatedAt: at(0),
			FinishedAt: at(20), Timeline: spans(map[v1.Stage]float64{v1.StageScheduling: 1, v1.StagePulling: 12}),
		},
		{
			Username: "bob", Node: "b", Image: "one", Blueprint: "dev", State: v1.JobSucceeded, CreatedAt: at(0),
			FinishedAt: at(4), Timeline: append(spans(map[v1.Stage]float64{v1.StageScheduling: 2}),
				spans(map[v1.Stage]float64{v1.StageScheduling: 1})...),
		},
		{
			Username: "alice", Node: "a", Image: "two", Blueprint: "ml", State: v1.JobFailed, Code: "FAILED",
			Cause: "CrashLoop", Timeline: spans(map[v1.Stage]float64{v1.StageStarting: 9}),
		},
		{Username: "carol", State: v1.JobFailed, Code: "FAILED"},
		{
			Username: "alice", Blueprint: "ml", State: v1.JobRunning, Cause: "Unschedulable",
			Timeline: []v1.JobSpan{
				{Type: v1.JobSpanStage, Name: "Scheduling", State: v1.StepBegun},
				{Type: v1.JobSpanStep, Name: "install", Seconds: 7, State: v1.StepEnded},
			},
		},
		{Username: "alice", Node: "a", Image: "two", Blueprint: "ml", State: v1.JobFailed, Cause: "CrashLoop"},
		{Username: "alice", Blueprint: "ml", State: v1.JobCreated},
		{Username: "alice", Blueprint: "ml", State: v1.JobInterrupted},
	}
	all := v1.JobGroup{
		Jobs: 8, Succeeded: 2, Failed: 3, Created: 1, Interrupted: 1, Running: 1,
		Causes:       []v1.JobCause{{Code: "CrashLoop", Jobs: 2}, {Code: "FAILED", Jobs: 1}},
		UntilRunning: &v1.Percentiles{Jobs: 2, Median: 4, P90: 20, Max: 20},
		Stages: []v1.StagePercentiles{
			{Stage: v1.StageScheduling, Percentiles: v1.Percentiles{Jobs: 2, Median: 1, P90: 3, Max: 3}},
			{Stage: v1.StagePulling, Percentiles: v1.Percentiles{Jobs: 1, Median: 12, P90: 12, Max: 12}},
			{Stage: v1.StageStarting, Percentiles: v1.Percentiles{Jobs: 1, Median: 9, P90: 9, Max: 9}},
		},
	}
	if diff := cmp.Diff(v1.JobStats{Total: all}, Stats(jobs, "")); diff != "" {
		t.Errorf("all: %s", diff)
	}
	for by, want := range map[v1.JobGrouping][]string{
		v1.JobsByBlueprint: {"ml", "dev", ""},
		v1.JobsByUser:      {"alice", "bob", "carol"},
		v1.JobsByNode:      {"", "a", "b"},
		v1.JobsByImage:     {"", "one", "two"},
	} {
		stats := Stats(jobs, by)
		var names []string
		sum := 0
		for _, g := range stats.Groups {
			names, sum = append(names, g.Name), sum+g.Jobs
		}
		if diff := cmp.Diff(want, names); diff != "" || sum != len(jobs) || stats.Total.Jobs != len(jobs) {
			t.Errorf("by %s: %d of %d jobs, %s", by, sum, len(jobs), diff)
		}
	}
	if diff := cmp.Diff(v1.JobStats{}, Stats(nil, "")); diff != "" {
		t.Errorf("none: %s", diff)
	}
}

// ConfigMaps are counted by the labels that listing and sweeping go by.
func TestCount(t *testing.T) {
	now := time.Unix(1000, 0)
	got := Count([]map[string]string{
		{LabelExpires: "999"},
		{LabelExpires: "1000"},
		{LabelExpires: "2000", LabelPendingMove: "true"},
		{LabelExpires: "1", LabelPendingMove: "true"},
		{LabelExpires: "never"},
	}, now)
	if want := (Counts{Kept: 3, Expired: 2, Pending: 1}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
}
