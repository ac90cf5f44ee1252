package terminal

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	v1 "github.com/berthdev/berth/api/v1"
)

// names tells a model's story in short.
func names(m *model) []string {
	var s []string
	for _, it := range m.items {
		name := it.name
		if it.kind == warningItem {
			name = fmt.Sprintf("! %s x%d", it.warning.Reason, it.warning.Count)
		}
		s = append(s, name+strings.Repeat("…", map[itemState]int{running: 1}[it.state]))
	}
	return s
}

func TestStagesMayComeBack(t *testing.T) {
	s := &script{}
	for i, stage := range []v1.Stage{v1.StagePulling, v1.StageInitializing, v1.StageInitializing, v1.StagePulling} {
		s.stage(time.Duration(i)*sc, stage, v1.Snapshot{})
	}
	m := s.until(time.Hour)
	if got, want := names(m), []string{"Pulling", "Initializing", "Pulling…"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if got := m.items[1].took; got != 2*sc {
		t.Errorf("Initializing took %s, want 2s", got)
	}
}

func TestAFailedStageIsMarked(t *testing.T) {
	s := &script{}
	s.stage(0, v1.StagePulling, v1.Snapshot{})
	s.stage(1*sc, v1.StageFailed, v1.Snapshot{})
	if m := s.until(time.Hour); len(m.items) != 1 || m.items[0].state != failed {
		t.Errorf("got %+v, want one failed stage", m.items)
	}
}

func TestStepsSideBySide(t *testing.T) {
	s := &script{}
	s.step(0, "identity", v1.StepBegun, "", 0)
	s.step(0, "lookup", v1.StepBegun, "", 0)
	s.step(1*sc, "lookup", v1.StepEnded, "", 0)
	m := s.until(1 * sc)
	p := render(m, view{width: 80, height: 50, now: t0, st: newStyles(plainLook), headed: true})
	if p.settled != 0 || len(p.final) != 0 || len(p.live) != 2 {
		t.Errorf("a line is final before the one above it: %+v", p)
	}
	s.step(2*sc, "identity", v1.StepEnded, "", 0)
	m = s.until(2 * sc)
	if p = render(m, view{width: 80, height: 50, now: t0, st: newStyles(plainLook), headed: true}); p.settled != 2 || len(p.final) != 2 {
		t.Errorf("finished lines are not final: %+v", p)
	}
	if m.items[0].took != 2*sc || m.items[1].took != 1*sc {
		t.Errorf("durations without the step's own: %s, %s", m.items[0].took, m.items[1].took)
	}
}

// Who follows a workspace that was there before sees how long it has waited; a
// cluster's clock that is a little slow changes nothing.
func TestStageBegunBeforeUs(t *testing.T) {
	for since, want := range map[time.Duration]time.Duration{2 * time.Minute: 2 * time.Minute, 1 * sc: 0, 0: 0} {
		s := &script{}
		s.stage(0, v1.StagePulling, v1.Snapshot{Since: t0.Add(-since)})
		if got := t0.Sub(s.until(0).items[0].begun); got != want {
			t.Errorf("since %s: began %s ago, want %s", since, got, want)
		}
	}
}

func TestWarningsAreOneLineEach(t *testing.T) {
	s := &script{}
	warn := func(at time.Duration, count int) *v1.Warning { w := unschedulable(count, at); return &w }
	s.stage(0, v1.StageScheduling, v1.Snapshot{})
	s.add(1*sc, v1.Event{Warning: warn(1*sc, 1)})
	s.add(2*sc, v1.Event{Warning: warn(2*sc, 2)})
	s.stage(2*sc, v1.StageScheduling, v1.Snapshot{Warnings: []v1.Warning{*warn(2*sc, 2)}})
	if got := s.until(2 * sc).warnings.shown(); len(got) != 1 || got[0].Count != 2 {
		t.Errorf("while it waits: %+v", got)
	}
	// The analyzer still has it in the next stage: it is history, until it grows.
	s.stage(3*sc, v1.StagePulling, v1.Snapshot{Warnings: []v1.Warning{*warn(2*sc, 2)}})
	m := s.until(3 * sc)
	if got, want := names(m), []string{"Scheduling", "! FailedScheduling x2", "Pulling…"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if got := m.warnings.shown(); len(got) != 0 {
		t.Errorf("history is shown again: %+v", got)
	}
	s.stage(4*sc, v1.StagePulling, v1.Snapshot{Warnings: []v1.Warning{*warn(4*sc, 3)}})
	if got := s.until(4 * sc).warnings.shown(); len(got) != 1 {
		t.Errorf("what has grown is not shown: %+v", got)
	}
}

func TestProgressIsShownUntilItsStepEnds(t *testing.T) {
	s := &script{}
	s.step(0, "unpack", v1.StepBegun, "", 0)
	s.add(1*sc, v1.Event{Progress: &v1.Progress{Message: "layers", Done: 3, Total: 7}})
	if got := joinLines(screen(s, 2*sc, 80, plainLook)); !strings.Contains(got, "layers  3/7") {
		t.Errorf("no sign of life:\n%s", got)
	}
	s.step(3*sc, "unpack", v1.StepEnded, "", 0)
	if got := joinLines(screen(s, 3*sc, 80, plainLook)); strings.Contains(got, "layers") {
		t.Errorf("a sign of life after the end:\n%s", got)
	}
}

func TestDurations(t *testing.T) {
	for d, want := range map[time.Duration]string{
		-sc: "0.0s", 0: "0.0s", 40 * ms: "0.04s", 100 * ms: "0.1s", 996 * ms: "1s", 18240 * ms: "18.2s",
		41 * sc: "41s", 59960 * ms: "1m", 120 * sc: "2m", 125 * sc: "2m5s", 3780 * sc: "1h3m", 7200 * sc: "2h",
	} {
		if got := brief(d); got != want {
			t.Errorf("brief(%s) = %s, want %s", d, got, want)
		}
	}
}

func TestShellWord(t *testing.T) {
	for in, want := range map[string]string{"alice~dev": "alice~dev", "carol~repo:a/b": "carol~repo:a/b", "~dev": "'~dev'", "a b": "'a b'", "a'b$c": `'a'\''b$c'`, "": "''"} {
		if got := shellWord(in); got != want {
			t.Errorf("shellWord(%q) = %s, want %s", in, got, want)
		}
	}
}

func TestNothingOfAMessageIsLost(t *testing.T) {
	cause := &v1.Cause{Message: "exit code 1", Container: "main"}
	w := workspace(v1.StageFailed, v1.Snapshot{Cause: cause})
	for message, more := range map[string]bool{
		"workspace alice failed: main: exit code 1":              false,
		"main keeps crashing: exit code 1.":                      false,
		"workspace alice failed":                                 true,
		"exit code 1; ignored: 3 warnings about volume \"data\"": true,
	} {
		e := v1.Error{Code: "FAILED", Message: message, Workspace: &w}
		if got := beyond(e, gist(e)); (len(got) > 0) != more {
			t.Errorf("%q: got %q", message, got)
		}
	}
}

// A pull is told of 8 s late; the lines agree with the timing all the same.
func TestAPullCountsFromItsBegin(t *testing.T) {
	for since, want := range map[time.Duration]time.Duration{3 * sc: 1 * sc, -time.Minute: 0, time.Minute: 9 * sc} {
		s := &script{}
		s.stage(2*sc, v1.StageStarting, v1.Snapshot{})
		s.stage(11*sc, v1.StagePulling, v1.Snapshot{Since: t0.Add(since)})
		s.stage(15*sc, v1.StageStarting, v1.Snapshot{Since: t0.Add(since)})
		m := s.until(time.Hour)
		if starting, pulling := m.items[0].took, m.items[1].took; starting != want || starting+pulling != 13*sc {
			t.Errorf("since %s: Starting %s, want %s; Pulling %s", since, starting, want, pulling)
		}
	}
}
