package progress

import (
	"strings"
	"testing"
	"time"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/terminal"
	"github.com/berthdev/berth/internal/terminal/live"
	"github.com/berthdev/berth/internal/terminal/style"
	"github.com/berthdev/berth/internal/terminal/terminaltest"
)

// ends gives how a provisioning that ended with a workspace is shown, live and plain.
func ends(t *testing.T, w v1.Workspace) (live, plain string) {
	t.Helper()
	s := &terminaltest.Script{}
	s.Step(0, "lookup", v1.StepBegun, "", 0)
	s.Add(140*ms, v1.Event{Result: &v1.Result{Workspace: &w}})
	_, plain = render(t, s, "text")
	return story(s, 140*ms, 80, terminaltest.PlainLook), plain
}

func TestAWorkspaceThatRanBefore(t *testing.T) {
	w := terminaltest.Workspace(v1.StageRunning, v1.Snapshot{Since: terminaltest.T0.Add(-3 * time.Hour)})
	live, plain := ends(t, w)
	if !strings.Contains(live, "✔ Running since 3h\n") || !strings.Contains(plain, "stage Running: since 3h\n") {
		t.Errorf("live:\n%splain:\n%s", live, plain)
	}
	w.Since = time.Time{}
	live, plain = ends(t, w)
	if !strings.Contains(live, "✔ Running\n") || !strings.Contains(plain, "stage Running\n") {
		t.Errorf("since an unknown time; live:\n%splain:\n%s", live, plain)
	}
}

func TestStagesOfOneNameAreSummed(t *testing.T) {
	w := terminaltest.Workspace(v1.StageRunning, v1.Snapshot{})
	w.Timing = &v1.Timing{Seconds: 13.7, Stages: []v1.StepTiming{
		{Name: "Starting", Seconds: 8.9},
		{Name: "Pulling", Seconds: 4.5},
		{Name: "Starting", Seconds: 0.3},
	}}
	live, plain := ends(t, w)
	if !strings.Contains(live, "starting 9.2 · pulling 4.5\n") ||
		!strings.Contains(plain, "timing: starting 9.2s, pulling 4.5s\n") {
		t.Errorf("live:\n%splain:\n%s", live, plain)
	}
	if len(w.Timing.Stages) != 3 || w.Timing.Stages[0].Seconds != 8.9 {
		t.Errorf("the document was changed: %+v", w.Timing.Stages)
	}
}

// story is what the live view shows at a moment, nothing scrolled away.
func story(s *terminaltest.Script, at time.Duration, width int, look terminal.Capabilities) string {
	return style.JoinLines(live.Still{
		Look: look, Width: width,
		At: terminaltest.T0.Add(at),
	}.Of(terminaltest.Single(terminaltest.Alice), s.Events))
}
