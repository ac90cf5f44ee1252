package controller

import (
	"errors"
	"slices"
	"testing"
	"time"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/lifecycle"
)

func seen(id string, stage v1.Stage) v1.Workspace {
	w := v1.Workspace{Namespace: "team", ID: id}
	w.Stage, w.Status = stage, stage.Status()
	return w
}

func recordOf(id string, desired v1.DesiredState, actual v1.ActualState) lifecycle.Record {
	r := lifecycle.Adopted(id, "1", time.Time{}, actual, time.Time{})
	r.Namespace, r.Desired, r.Answered = "team", desired, r.Changed
	r.History[0].Desired = desired
	return r
}

// reports are the keys that a report has, and what they are.
func (k *known) reports(full bool) (all []string) {
	for _, w := range k.report(full).Workspaces {
		all = append(all, w.ID+" "+string(w.Actual))
	}
	return all
}

func expect(t *testing.T, when string, got []string, want ...string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("%s: %q, want %q", when, got, want)
	}
}

// A watch tells of all workspaces once, and then of those that change: the others stay.
func TestWatchTellsOfAllOnce(t *testing.T) {
	k, listed := newKnown(), 0
	k.replaceRecords([]lifecycle.Record{
		recordOf("a", v1.DesiredRunning, v1.ActualStarting),
		recordOf("b", v1.DesiredRunning, v1.ActualStarting),
	})
	h := &handler{known: k, listed: func() { listed++ }}
	h.Changed([]v1.Workspace{seen("a", v1.StageStarting), seen("b", v1.StageStarting)})
	h.Changed([]v1.Workspace{seen("b", v1.StageRunning)})
	expect(t, "one has changed", k.reports(true), "team.a Starting", "team.b Running")
	if listed != 1 {
		t.Errorf("all were listed %d times", listed)
	}
}

// Nothing is kept of a workspace whose record is gone, however that is learned.
func TestDropped(t *testing.T) {
	a := recordOf("a", v1.DesiredTerminated, v1.ActualTerminating)
	for name, gone := range map[string]func(*known){
		"one is deleted":      func(k *known) { k.setRecord("team.a", lifecycle.Record{}) },
		"it is not among all": func(k *known) { k.replaceRecords(nil) },
		"the work on it ends": func(k *known) {
			k.setRecord("team.a", lifecycle.Record{})
			k.ended("team.a", a,
				nil)
		},
		"the work on it failed": func(k *known) { k.replaceRecords(nil); k.ended("team.a", a, errors.New("refused")) },
	} {
		k := newKnown()
		k.replaceRecords([]lifecycle.Record{a})
		k.ended("team.a", a, errors.New("refused"))
		k.setRemains("team.a", true)
		gone(k)
		if n := len(k.records) + len(k.failures) + len(k.remains) + len(k.worked); n != 0 {
			t.Errorf("%s: %+v", name, k)
		}
	}
}

// A pod goes after an exchange has looked for what has none: nothing is said to be gone, nor
// worked on as if it were, before somebody has looked.
func TestPodGoesDuringAnExchange(t *testing.T) {
	k := newKnown()
	k.replaceRecords([]lifecycle.Record{
		recordOf("a", v1.DesiredStopped, v1.ActualRunning),
		recordOf("b", v1.DesiredTerminated, v1.ActualTerminating),
	})
	k.seeAll([]v1.Workspace{seen("a", v1.StageTerminating), seen("b", v1.StageTerminating)})
	k.takeTouched()
	k.see([]v1.Workspace{
		{Namespace: "team", ID: "a", Snapshot: v1.Snapshot{Gone: true}},
		{Namespace: "team", ID: "b", Snapshot: v1.Snapshot{Gone: true}},
	})
	expect(t, "not looked for yet", k.reports(false), "team.a Stopped", "team.b Stopped")
	expect(t, "what is worked on", k.takeTouched(), "team.b")
	k.setRemains("team.a", false)
	k.setRemains("team.b", false)
	expect(t, "nothing is left", k.reports(false), "team.a Unknown", "team.b Terminated")
}

// A report has what is not as it is recorded, and what was worked on; in full it has all.
func TestReport(t *testing.T) {
	k := newKnown()
	k.replaceRecords([]lifecycle.Record{
		recordOf("a", v1.DesiredRunning, v1.ActualRunning),
		recordOf("b", v1.DesiredStopped, v1.ActualStopped),
	})
	k.seeAll([]v1.Workspace{seen("a", v1.StageRunning), seen("x", v1.StageRunning), seen("y", v1.StageTerminating)})
	k.setRemains("team.b", true)
	expect(t, "as recorded", k.reports(false))
	expect(t, "in full, also what has no record", k.reports(true), "team.a Running", "team.b Stopped", "team.x Running",
		"team.y Terminating")
	k.see([]v1.Workspace{seen("a", v1.StageFailed)})
	expect(t, "a change", k.reports(false), "team.a Failed")
	k.exchanged(map[string]lifecycle.Record{"team.a": recordOf("a", v1.DesiredRunning, v1.ActualFailed)})
	expect(t, "recorded", k.reports(false))
	a := recordOf("a", v1.DesiredRunning, v1.ActualFailed)
	k.ended("team.a", a, nil)
	expect(t, "worked on", k.reports(false), "team.a Failed")
	gone := seen("a", v1.StageUnknown)
	gone.Gone = true
	k.see([]v1.Workspace{gone})
	if all := k.podless(); len(all) != 1 || all[0].ID != "a" {
		t.Errorf("it is looked for %v", all)
	}
	failed := func(r lifecycle.Record) {
		k.ended("team.a", r, errors.New("refused"))
		k.setRemains("team.a", true)
	}
	failed(a)
	expect(t, "could not be started", k.reports(false), "team.a Error")
	stands := recordOf("a", v1.DesiredRunning, v1.ActualError)
	stands.Cause = "refused"
	k.exchanged(map[string]lifecycle.Record{"team.a": stands})
	failed(a)
	expect(t, "failed again, which is recorded", k.reports(false))
	k.see([]v1.Workspace{seen("a", v1.StageRunning)})
	expect(t, "somebody else has started it", k.reports(false), "team.a Running")
	k.see([]v1.Workspace{gone})
	k.setRemains("team.a", true)
	expect(t, "which ends the failure", k.reports(false), "team.a Stopped")
	earlier, another := a, a
	earlier.Changed, another.Incarnation = 0, "2"
	for what, r := range map[string]lifecycle.Record{"an earlier change": earlier, "another incarnation": another} {
		failed(r)
		expect(t, "could not be started for "+what, k.reports(false), "team.a Stopped")
	}
	k.setRemains("team.a", false)
	expect(t, "removed by somebody", k.reports(false), "team.a Unknown")
	if all := k.without(); len(all) != 1 || all[0].ID != "x" {
		t.Errorf("without a record are %v", all)
	}
}

// What is left of a workspace is looked for again when it has been seen to change.
func TestRemainsAreForgotten(t *testing.T) {
	k := newKnown()
	k.replaceRecords([]lifecycle.Record{recordOf("a", v1.DesiredStopped, v1.ActualStopped)})
	k.setRemains("team.a", true)
	if all := k.podless(); len(all) != 0 {
		t.Errorf("it is looked for %v", all)
	}
	gone := seen("a", v1.StageUnknown)
	gone.Gone = true
	k.see([]v1.Workspace{gone})
	if all := k.podless(); len(all) != 1 || all[0].ID != "a" {
		t.Errorf("after a change it is looked for %v", all)
	}
}

// What somebody else has changed is worked on if it is not what is wanted, once; what has not
// been answered is left to the next exchange.
func TestTouched(t *testing.T) {
	k := newKnown()
	pending := recordOf("pending", v1.DesiredRunning, v1.ActualRunning)
	pending.Changed++
	k.replaceRecords([]lifecycle.Record{
		recordOf("gone", v1.DesiredRunning, v1.ActualRunning), recordOf("runs", v1.DesiredRunning, v1.ActualRunning),
		recordOf("back", v1.DesiredStopped, v1.ActualStopped), pending,
	})
	k.seeAll([]v1.Workspace{seen("gone", v1.StageRunning), seen("pending", v1.StageRunning)})
	k.takeTouched()
	k.seeAll([]v1.Workspace{seen("runs", v1.StageRunning), seen("back", v1.StageRunning)})
	k.setRemains("team.gone", true)
	k.setRemains("team.pending", true)
	expect(t, "touched", k.takeTouched(), "team.back", "team.gone")
	expect(t, "touched again", k.takeTouched())
}

// An error that nobody expected, such as a panic, is recorded like any other.
func TestDefective(t *testing.T) {
	k := newKnown()
	k.replaceRecords([]lifecycle.Record{recordOf("a", v1.DesiredRunning, v1.ActualStopped)})
	k.setRemains("team.a", true)
	k.defective("team.a", fault.New(fault.Unavailable, "away"))
	expect(t, "not reached", k.reports(false))
	k.defective("team.a", fault.New(fault.Internal, "panicked"))
	k.setRemains("team.a", true)
	expect(t, "a defect", k.reports(false), "team.a Error")
}

// What arrives late does not replace what is newer, whichever way it comes.
func TestLate(t *testing.T) {
	k := newKnown()
	old := recordOf("a", v1.DesiredRunning, v1.ActualRunning)
	wanted, err := old.Set(v1.DesiredTerminated, time.Time{})
	if err != nil {
		t.Fatal(err)
	}
	for name, late := range map[string]func(){
		"a list":      func() { k.replaceRecords([]lifecycle.Record{old}) },
		"a watch":     func() { k.setRecord("team.a", old) },
		"an exchange": func() { k.exchanged(map[string]lifecycle.Record{"team.a": old}) },
	} {
		k.setRecord("team.a", wanted)
		late()
		if r, _ := k.of("team.a"); r.Desired != v1.DesiredTerminated {
			t.Errorf("%s has replaced what is newer by %s", name, r)
		}
	}
	again := old
	again.Incarnation = "2"
	k.setRecord("team.a", again)
	if r, _ := k.of("team.a"); r.Incarnation != "2" {
		t.Error("a new incarnation is not taken")
	}
}

// That what failed before fails for a newer change, too, is reported, though it looks the same.
func TestFailsForANewerChange(t *testing.T) {
	a := recordOf("a", v1.DesiredRunning, v1.ActualError)
	a.Cause = "refused"
	k := newKnown()
	k.replaceRecords([]lifecycle.Record{a})
	for _, want := range [][]string{{"team.a Error"}, nil} {
		k.ended("team.a", a, errors.New("refused"))
		k.setRemains("team.a", true)
		expect(t, "failed", k.reports(false), want...)
		k.exchanged(map[string]lifecycle.Record{"team.a": a})
	}
}
