package recorded_test

import (
	"slices"
	"testing"
	"time"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/lifecycle"
	"github.com/berthdev/berth/internal/provision/inventory/fleet"
	"github.com/berthdev/berth/internal/provision/inventory/recorded"
)

func at(hour int) time.Time { return time.Date(2026, time.November, 23, hour, 0, 0, 0, time.UTC) }

func record(desired v1.DesiredState, actual v1.ActualState) lifecycle.Record {
	return lifecycle.Record{
		ID: "alice-1", Namespace: "team", UserString: "alice~dev", Blueprint: "dev", CreatedAt: at(8),
		Desired: desired, DesiredAt: at(9), Actual: actual, ActualAt: at(10),
	}
}

func failed(r lifecycle.Record, cause string) lifecycle.Record {
	r.Cause, r.Answered = cause, r.Changed
	return r
}

func seen(stage v1.Stage) v1.Workspace {
	w := v1.Workspace{ID: "alice-1", Namespace: "team", Owner: "alice"}
	w.Stage, w.Status = stage, stage.Status()
	return w
}

// What is seen says what a workspace is; what is recorded, what it is meant to be. Without
// a pod the record says why.
func TestWith(t *testing.T) {
	for name, c := range map[string]struct {
		seen    v1.Workspace
		record  lifecycle.Record
		stage   v1.Stage
		since   time.Time
		message string
		state   *v1.State
	}{
		"never stopped": {seen(v1.StageRunning), lifecycle.Record{}, v1.StageRunning, time.Time{}, "", nil},
		"runs": {
			seen(v1.StageRunning), record(v1.DesiredRunning, v1.ActualRunning), v1.StageRunning,
			time.Time{},
			"",
			&v1.State{Desired: v1.DesiredRunning, DesiredAt: at(9), Actual: v1.ActualRunning},
		},
		"runs, and is to stop": {
			seen(v1.StageRunning), record(v1.DesiredStopped, v1.ActualRunning), v1.StageRunning,
			time.Time{},
			"",
			&v1.State{Desired: v1.DesiredStopped, DesiredAt: at(9), Actual: v1.ActualRunning},
		},
		"stopped": {
			seen(v1.StageUnknown), record(v1.DesiredStopped, v1.ActualStopped), v1.StageStopped, at(10), "",
			&v1.State{Desired: v1.DesiredStopped, DesiredAt: at(9), Actual: v1.ActualStopped},
		},
		"stopped, which nobody has recorded": {
			seen(v1.StageUnknown), record(v1.DesiredStopped, v1.ActualStopping), v1.StageStopped, at(9), "",
			&v1.State{Desired: v1.DesiredStopped, DesiredAt: at(9), Actual: v1.ActualStopped},
		},
		"its pod was deleted": {
			seen(v1.StageUnknown), record(v1.DesiredRunning, v1.ActualRunning), v1.StageUnknown,
			time.Time{},
			"pod gone; start it: berth start alice~dev --namespace team",
			&v1.State{Desired: v1.DesiredRunning, DesiredAt: at(9), Actual: v1.ActualStopped},
		},
		"it was removed by somebody": {
			seen(v1.StageUnknown), failed(record(v1.DesiredStopped, v1.ActualError), "nothing of it is left"),
			v1.StageUnknown,
			at(10), "nothing of it is left",
			&v1.State{
				Desired: v1.DesiredStopped, DesiredAt: at(9), Actual: v1.ActualError,
				Cause: "nothing of it is left",
			},
		},
		"its restart was killed": {
			seen(v1.StageUnknown), record(v1.DesiredRestart, v1.ActualStopping), v1.StageStopped, at(9),
			"its restart was interrupted; start it",
			&v1.State{Desired: v1.DesiredRestart, DesiredAt: at(9), Actual: v1.ActualStopped},
		},
		"its deletion was killed": {
			seen(v1.StageUnknown), record(v1.DesiredTerminated, v1.ActualRunning), v1.StageTerminating, at(9),
			"its deletion was interrupted; complete it: berth delete id/alice-1 --namespace team",
			&v1.State{Desired: v1.DesiredTerminated, DesiredAt: at(9), Actual: v1.ActualStopped},
		},
	} {
		w := recorded.With(c.seen, c.record)
		if w.Stage != c.stage || w.Status != c.stage.Status() || !w.Since.Equal(c.since) || w.Message != c.message {
			t.Errorf("%s: %+v", name, w.Snapshot)
		}
		if (w.State == nil) != (c.state == nil) || w.State != nil && *w.State != *c.state {
			t.Errorf("%s: %+v, want %+v", name, w.State, c.state)
		}
	}
}

// One that was refused is Failed with the cause, as it is where Helm's record says so, and can be
// started again.
func TestRefused(t *testing.T) {
	for said, want := range map[string]string{
		`pods "alice-1" is forbidden: exceeded quota: q, requested: pods=1, used: pods=1, ` +
			`limited: pods=1`: "QuotaExceeded pod/alice-1",
		`persistentvolumeclaims "pvc-1" is forbidden: exceeded quota: q, ` +
			`requested: requests.storage=1Gi`: "QuotaExceeded persistentvolumeclaim/pvc-1",
		`pods "alice-1" is forbidden: violates PodSecurity "restricted:latest": ` +
			`allowPrivilegeEscalation`: "PodRefused pod/alice-1",
		`admission webhook "p" denied the request: no`: "PodRefused pod/alice-1",
		"nothing of it is left":                        "",
		`you may not create pods: pods is forbidden: User "alice" cannot create resource "pods" in API group`: "",
	} {
		w := recorded.Of(failed(record(v1.DesiredRunning, v1.ActualError), said), "team")
		got := ""
		if w.Cause != nil {
			got = w.Cause.Code + " " + w.Cause.Object
		}
		if got != want || (w.Stage == v1.StageFailed) != (want != "") || want != "" &&
			(!w.Startable || w.Cause.Message != said) {
			t.Errorf("%s: %+v", said, w)
		}
	}
}

// A workspace is as old as is recorded, whichever pod it has.
func TestAge(t *testing.T) {
	young, r := seen(v1.StageRunning), record(v1.DesiredRunning, v1.ActualRunning)
	young.CreatedAt = at(12)
	old := seen(v1.StageRunning)
	old.CreatedAt = at(7)
	for name, c := range map[string]struct {
		w    v1.Workspace
		r    lifecycle.Record
		want time.Time
	}{
		"its second pod":          {young, r, at(8)},
		"nothing is recorded":     {young, lifecycle.Record{}, at(12)},
		"it is recorded later":    {old, r, at(7)},
		"stopped":                 {seen(v1.StageUnknown), record(v1.DesiredStopped, v1.ActualStopped), at(8)},
		"a record without a time": {young, lifecycle.Record{ID: "alice-1"}, at(12)},
	} {
		if got := recorded.With(c.w, c.r).CreatedAt; !got.Equal(c.want) {
			t.Errorf("%s: %s", name, got)
		}
	}
}

// A list has the workspaces that are only recorded beside those that were seen, if they
// match.
func TestComplete(t *testing.T) {
	stopped, other := record(v1.DesiredStopped, v1.ActualStopped), record(v1.DesiredStopped, v1.ActualStopped)
	other.ID, other.UserString, other.Blueprint = "bob-2", "bob~plain", "plain"
	elsewhere := stopped
	elsewhere.Namespace = "other"
	for name, c := range map[string]struct {
		query fleet.Query
		want  []string
	}{
		"all": {
			fleet.Query{},
			[]string{"other/alice-1 Stopped", "team/alice-1 Running", "team/bob-2 Stopped"},
		},
		"of an owner": {fleet.Query{Owners: []string{"BOB"}}, []string{"team/alice-1 Running", "team/bob-2 Stopped"}},
		"of a blueprint": {
			fleet.Query{Blueprints: []string{"dev"}},
			[]string{"other/alice-1 Stopped", "team/alice-1 Running"},
		},
		"in another stage":   {fleet.Query{Stages: []v1.Stage{v1.StageRunning}}, []string{"team/alice-1 Running"}},
		"by labels of a pod": {fleet.Query{Labels: "a=b"}, []string{"team/alice-1 Running"}},
	} {
		// What was seen matched already.
		all := recorded.Complete([]v1.Workspace{seen(v1.StageRunning)}, nil,
			[]lifecycle.Record{stopped, other, elsewhere}, lifecycle.Limits{}, c.query)
		var got []string
		for _, w := range all {
			got = append(got, w.Namespace+"/"+w.ID+" "+string(w.Stage))
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}
