package controller

import (
	"testing"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/lifecycle"
)

// What is done depends on what is wanted and on what stands, and on nothing else.
func TestDecide(t *testing.T) {
	pods := func(stage v1.Stage, status v1.Status) lifecycle.Seen {
		return lifecycle.Seen{Pods: true, Reading: v1.Snapshot{Stage: stage, Status: status}}
	}
	stands := map[string]lifecycle.Seen{
		"runs":   pods(v1.StageRunning, v1.StatusRunning),
		"failed": pods(v1.StageFailed, v1.StageFailed.Status()),
		"waits":  pods(v1.StageScheduling, v1.StatusProvisioning),
		"is over": {Pods: true, Reading: v1.Snapshot{
			Stage: v1.StageFailed, Status: v1.StageFailed.Status(),
			Ended: true,
		}},
		"has ended":   {Pods: true, Reading: v1.Snapshot{Stage: v1.StageStopped, Status: v1.StatusStopped, Ended: true}},
		"ended asked": {Pods: true, Reading: v1.Snapshot{Stage: v1.StageStopped, Status: v1.StatusStopping, Ended: true}},
		"asked":       pods(v1.StageRunning, v1.StatusStopping), // and not deleted: who asked was killed
		"ending":      pods(v1.StageTerminating, v1.StatusTerminating),
		"ends":        pods(v1.StageTerminating, v1.StatusRunning),
		"is ended":    pods(v1.StageRunning, v1.StatusTerminating),
		"stopped":     {Kept: true},
		"nothing":     {},
		"failed once": {Kept: true, Failure: &lifecycle.Failure{Changed: 1}},
	}
	for desired, want := range map[v1.DesiredState]map[string]Action{
		v1.DesiredRunning: {
			"runs": Nothing, "failed": Nothing, "waits": Nothing, "asked": Nothing, "ending": Nothing, "ends": Nothing,
			"is ended": Nothing,
			"stopped":  Start, "failed once": Start, "nothing": Lost, "is over": Start, "has ended": Start,
			"ended asked": Nothing,
		},
		v1.DesiredStopped: {
			"runs": Stop, "failed": Stop, "waits": Stop, "asked": Stop, "ending": Nothing, "ends": Nothing, "is ended": Nothing,
			"stopped": Nothing, "failed once": Nothing, "nothing": Lost, "is over": Stop, "has ended": Stop, "ended asked": Stop,
		},
		v1.DesiredRestart: {
			"runs": Stop, "failed": Stop, "waits": Stop, "asked": Stop, "ending": Nothing, "ends": Nothing, "is ended": Nothing,
			"stopped": Nothing, "failed once": Nothing, "nothing": Lost, "is over": Stop, "has ended": Stop, "ended asked": Stop,
		},
		v1.DesiredTerminated: {
			"runs": Delete, "failed": Delete, "waits": Delete, "asked": Delete, "ending": Nothing, "ends": Nothing,
			"is ended": Nothing,
			"stopped":  Delete, "failed once": Delete, "nothing": Nothing, "is over": Delete, "has ended": Delete,
			"ended asked": Delete,
		},
	} {
		for name, action := range want {
			if got := Decide(desired, stands[name]); got != action {
				t.Errorf("%s, and it %s: %q, want %q", desired, name, got, action)
			}
		}
	}
}
