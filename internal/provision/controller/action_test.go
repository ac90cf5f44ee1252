package controller

import (
	"testing"
	"time"

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
		"has ended": {Pods: true, Reading: v1.Snapshot{
			Stage: v1.StageStopped, Status: v1.StatusStopped,
			Ended: true,
		}},
		"ended asked": {Pods: true, Reading: v1.Snapshot{
			Stage: v1.StageStopped, Status: v1.StatusStopping,
			Ended: true,
		}},
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
			"runs": Stop, "failed": Stop, "waits": Stop, "asked": Stop, "ending": Nothing, "ends": Nothing,
			"is ended": Nothing,
			"stopped":  Nothing, "failed once": Nothing, "nothing": Lost, "is over": Stop, "has ended": Stop,
			"ended asked": Stop,
		},
		v1.DesiredRestart: {
			"runs": Stop, "failed": Stop, "waits": Stop, "asked": Stop, "ending": Nothing, "ends": Nothing,
			"is ended": Nothing,
			"stopped":  Nothing, "failed once": Nothing, "nothing": Lost, "is over": Stop, "has ended": Stop,
			"ended asked": Stop,
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

// A pod that is over is replaced at once, and one that is over again is left for longer each
// time; what ran for long begins again.
func TestPausesBetweenReplacements(t *testing.T) {
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	k := newKnown()
	k.replaceRecords([]lifecycle.Record{recordOf("a", v1.DesiredRunning, v1.ActualRunning)})
	over := seen("a", v1.StageFailed)
	over.Ended = true
	k.seeAll([]v1.Workspace{over})
	replaced := func(pause time.Duration) {
		t.Helper()
		if got := k.wait("team.a", now); got != 0 {
			t.Errorf("%s: it waits for %s", now, got)
		}
		k.replacedAt("team.a", now)
		if got := k.wait("team.a", now); got != pause {
			t.Errorf("%s: it waits for %s, want %s", now, got, pause)
		}
		now = now.Add(pause)
	}
	for _, seconds := range []int{10, 20, 40, 80, 160, 300, 300} {
		replaced(time.Duration(seconds) * time.Second)
	}
	now = now.Add(provenAfter)
	replaced(leastReplacePause)
	now = now.Add(-time.Second)
	k.seeAll([]v1.Workspace{seen("a", v1.StageRunning)})
	if got := k.wait("team.a", now); got != 0 {
		t.Errorf("one that runs waits for %s", got)
	}
}

// The second half of a restart is left to its command for two seconds; what was to run otherwise is
// started at once.
func TestRestartIsLeftToItsCommand(t *testing.T) {
	at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	halfway, err := lifecycle.Adopted("a", "1", at, v1.ActualRunning, at).Set(v1.DesiredRestart, at)
	if err != nil {
		t.Fatal(err)
	}
	halfway = halfway.Observed(v1.ActualStopped, "", at)
	stopped, err := lifecycle.Adopted("a", "1", at, v1.ActualStopped, at).Set(v1.DesiredRunning, at)
	if err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct {
		record lifecycle.Record
		after  time.Duration
		waits  time.Duration
	}{
		"at once":                  {halfway, 0, 2 * time.Second},
		"soon after":               {halfway, 1500 * time.Millisecond, 500 * time.Millisecond},
		"the command was killed":   {halfway, 2 * time.Second, 0},
		"by a clock that is ahead": {halfway, -time.Minute, 0},
		"no restart":               {stopped, 0, 0},
	} {
		k := newKnown()
		test.record.Namespace = "team"
		k.replaceRecords([]lifecycle.Record{test.record})
		k.setRemains("team.a", true)
		if got := k.wait("team.a", at.Add(test.after)); got != test.waits {
			t.Errorf("%s: it waits for %s, want %s", name, got, test.waits)
		}
	}
}
