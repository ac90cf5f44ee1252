package recorded_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/lifecycle"
	"github.com/berthdev/berth/internal/provision/inventory/recorded"
)

// A workspace that was created at 8 and became what it is meant to be at 9.
func TestDue(t *testing.T) {
	own := func(active, stopped, age *float64) lifecycle.Hours {
		return lifecycle.Hours{MaxActiveHours: active, MaxStoppedHours: stopped, MaxAgeHours: age}
	}
	for name, c := range map[string]struct {
		desired    v1.DesiredState
		blueprint  lifecycle.Hours
		configured lifecycle.Limits
		want       *v1.NextState
	}{
		"no limits": {v1.DesiredRunning, own(nil, nil, nil), lifecycle.Limits{}, nil},
		"runs": {
			v1.DesiredRunning, own(new(3.0), new(1.0), nil),
			lifecycle.Limits{},
			&v1.NextState{Desired: v1.DesiredStopped, Limit: "maxActiveHours", From: v1.LimitOfBlueprint, At: at(12)},
		},
		"runs, by the configuration": {
			v1.DesiredRunning, own(nil, new(1.0), nil),
			lifecycle.Limits{Active: 2 * time.Hour},
			&v1.NextState{
				Desired: v1.DesiredStopped, Limit: "maxActiveHours", From: v1.LimitOfConfiguration,
				At: at(11),
			},
		},
		"runs, and its blueprint has no limit": {
			v1.DesiredRunning, own(new(0.0), nil, nil),
			lifecycle.Limits{Active: time.Hour},
			nil,
		},
		"stopped": {
			v1.DesiredStopped, own(new(1.0), new(2.0), new(24.0)),
			lifecycle.Limits{},
			&v1.NextState{
				Desired: v1.DesiredTerminated, Limit: "maxStoppedHours", From: v1.LimitOfBlueprint,
				At: at(11),
			},
		},
		"old before it is stopped": {
			v1.DesiredRunning, own(new(3.0), nil, nil),
			lifecycle.Limits{Age: 2 * time.Hour},
			&v1.NextState{
				Desired: v1.DesiredTerminated, Limit: "maxAgeHours", From: v1.LimitOfConfiguration,
				At: at(10),
			},
		},
		"being deleted": {v1.DesiredTerminated, own(new(1.0), new(1.0), new(1.0)), lifecycle.Limits{}, nil},
	} {
		r := record(c.desired, v1.ActualRunning)
		r.Limits = c.blueprint
		w := recorded.Due(recorded.With(seen(v1.StageRunning), r), r, c.configured)
		if diff := cmp.Diff(c.want, w.State.Next); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

// Nothing is said of a workspace without a record, nor of a time that no document can have.
func TestNotDue(t *testing.T) {
	limits := lifecycle.Limits{Active: time.Hour}
	if w := recorded.Due(seen(v1.StageRunning), lifecycle.Record{}, limits); w.State != nil {
		t.Errorf("%+v", w.State)
	}
	r := record(v1.DesiredRunning, v1.ActualRunning)
	r.DesiredAt = time.Date(9999, time.December, 31, 23, 30, 0, 0, time.UTC)
	if w := recorded.Due(recorded.With(seen(v1.StageRunning), r), r, limits); w.State.Next != nil {
		t.Errorf("%+v", w.State.Next)
	}
}
