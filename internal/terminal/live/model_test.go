package live

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/terminal/style"
	"github.com/berthdev/berth/internal/terminal/terminaltest"
)

// names summarizes a model's story.
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
	s := &terminaltest.Script{}
	for i, stage := range []v1.Stage{v1.StagePulling, v1.StageInitializing, v1.StageInitializing, v1.StagePulling} {
		s.Stage(time.Duration(i)*sc, stage, v1.Snapshot{})
	}
	m := modelOf(s, time.Hour)
	if got, want := names(m), []string{"Pulling", "Initializing", "Pulling…"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if got := m.items[1].took; got != 2*sc {
		t.Errorf("Initializing took %s, want 2s", got)
	}
}

func TestAFailedStageIsMarked(t *testing.T) {
	s := &terminaltest.Script{}
	s.Stage(0, v1.StagePulling, v1.Snapshot{})
	s.Stage(1*sc, v1.StageFailed, v1.Snapshot{})
	if m := modelOf(s, time.Hour); len(m.items) != 1 || m.items[0].state != failed {
		t.Errorf("got %+v, want one failed stage", m.items)
	}
}

func TestStepsSideBySide(t *testing.T) {
	s := &terminaltest.Script{}
	s.Step(0, "identity", v1.StepBegun, "", 0)
	s.Step(0, "lookup", v1.StepBegun, "", 0)
	s.Step(1*sc, "lookup", v1.StepEnded, "", 0)
	m := singleOf(s, 1*sc)
	p := m.picture(view{
		Page:   style.Page{Width: 80, Now: terminaltest.T0, Styles: terminaltest.PlainLook.Styles()},
		height: 50, headed: true,
	})
	if p.written != 0 || len(p.final) != 0 || len(p.live) != 2 {
		t.Errorf("a line is final before the one above it: %+v", p)
	}
	s.Step(2*sc, "identity", v1.StepEnded, "", 0)
	m = singleOf(s, 2*sc)
	if p = m.picture(view{
		Page:   style.Page{Width: 80, Now: terminaltest.T0, Styles: terminaltest.PlainLook.Styles()},
		height: 50, headed: true,
	}); p.written != 2 || len(p.final) != 2 {
		t.Errorf("finished lines are not final: %+v", p)
	}
	if m.members[0].items[0].took != 2*sc || m.members[0].items[1].took != 1*sc {
		t.Errorf("durations without the step's own: %s, %s", m.members[0].items[0].took, m.members[0].items[1].took)
	}
}

// A workspace that existed before is shown with how long it has waited; a
// cluster's clock that is a little slow changes nothing.
func TestStageBegunBeforeUs(t *testing.T) {
	for since, want := range map[time.Duration]time.Duration{2 * time.Minute: 2 * time.Minute, 1 * sc: 0, 0: 0} {
		s := &terminaltest.Script{}
		s.Stage(0, v1.StagePulling, v1.Snapshot{Since: terminaltest.T0.Add(-since)})
		if got := terminaltest.T0.Sub(modelOf(s, 0).items[0].begun); got != want {
			t.Errorf("since %s: began %s ago, want %s", since, got, want)
		}
	}
}

func TestWarningsAreOneLineEach(t *testing.T) {
	s := &terminaltest.Script{}
	warn := func(at time.Duration, count int) *v1.Warning { w := terminaltest.Unschedulable(count, at); return &w }
	s.Stage(0, v1.StageScheduling, v1.Snapshot{})
	s.Add(1*sc, v1.Event{Warning: warn(1*sc, 1)})
	s.Add(2*sc, v1.Event{Warning: warn(2*sc, 2)})
	s.Stage(2*sc, v1.StageScheduling, v1.Snapshot{Warnings: []v1.Warning{*warn(2*sc, 2)}})
	if got := modelOf(s, 2*sc).warnings.current(); len(got) != 1 || got[0].Count != 2 {
		t.Errorf("while it waits: %+v", got)
	}
	// The analyzer still has it in the next stage: it is history, until it grows.
	s.Stage(3*sc, v1.StagePulling, v1.Snapshot{Warnings: []v1.Warning{*warn(2*sc, 2)}})
	m := modelOf(s, 3*sc)
	if got, want := names(m), []string{"Scheduling", "! FailedScheduling x2", "Pulling…"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if got := m.warnings.current(); len(got) != 0 {
		t.Errorf("history is shown again: %+v", got)
	}
	s.Stage(4*sc, v1.StagePulling, v1.Snapshot{Warnings: []v1.Warning{*warn(4*sc, 3)}})
	if got := modelOf(s, 4*sc).warnings.current(); len(got) != 1 {
		t.Errorf("what has grown is not shown: %+v", got)
	}
}

func TestProgressIsShownUntilItsStepEnds(t *testing.T) {
	s := &terminaltest.Script{}
	s.Step(0, "unpack", v1.StepBegun, "", 0)
	s.Add(1*sc, v1.Event{Progress: &v1.Progress{Message: "layers", Done: 3, Total: 7}})
	if got := style.JoinLines(screen(s, 2*sc, 80, terminaltest.PlainLook)); !strings.Contains(got, "layers  3/7") {
		t.Errorf("no sign of life:\n%s", got)
	}
	s.Step(3*sc, "unpack", v1.StepEnded, "", 0)
	if got := style.JoinLines(screen(s, 3*sc, 80, terminaltest.PlainLook)); strings.Contains(got, "layers") {
		t.Errorf("a sign of life after the end:\n%s", got)
	}
}

// A pull is reported 8 s late; the lines agree with the timing all the same.
func TestAPullCountsFromItsBegin(t *testing.T) {
	for since, want := range map[time.Duration]time.Duration{3 * sc: 1 * sc, -time.Minute: 0, time.Minute: 9 * sc} {
		s := &terminaltest.Script{}
		s.Stage(2*sc, v1.StageStarting, v1.Snapshot{})
		s.Stage(11*sc, v1.StagePulling, v1.Snapshot{Since: terminaltest.T0.Add(since)})
		s.Stage(15*sc, v1.StageStarting, v1.Snapshot{Since: terminaltest.T0.Add(since)})
		m := modelOf(s, time.Hour)
		if starting, pulling := m.items[0].took, m.items[1].took; starting != want || starting+pulling != 13*sc {
			t.Errorf("since %s: Starting %s, want %s; Pulling %s", since, starting, want, pulling)
		}
	}
}

// What a stage was waiting for is not left behind it as what it did.
func TestAStageThatWentOn(t *testing.T) {
	s := &terminaltest.Script{}
	s.Stage(0, v1.StageStarting, v1.Snapshot{Message: "k8shell-main: pulling slow:v1"})
	s.Stage(9*sc, v1.StagePulling, v1.Snapshot{Message: "slow:v1"})
	if m := modelOf(s, time.Hour); len(m.items) != 2 || m.items[0].message != "" || m.items[1].message != "slow:v1" {
		t.Errorf("got %+v", m.items)
	}
}
