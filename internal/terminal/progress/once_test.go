package progress

import (
	"strings"
	"testing"
	"time"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/terminal/terminaltest"
)

// The outcome is reported once: by the headline.
func TestAnOutcomeIsSaidOnce(t *testing.T) {
	scheduling, none := terminaltest.Workspace(v1.StageScheduling, v1.Snapshot{}),
		terminaltest.Workspace(v1.StageUnknown, v1.Snapshot{})
	none.CreatedAt = time.Time{}
	ignoring := terminaltest.Workspace(v1.StageStarting,
		v1.Snapshot{Cause: &v1.Cause{Message: "no image"}, Ignored: []string{"ImageNotFound"}})
	for name, test := range map[string]struct {
		e    v1.Error
		want string
	}{
		"interrupted": {
			v1.Error{Code: "INTERRUPTED", Message: "interrupted", Workspace: &scheduling},
			"interrupted after 10s: still Scheduling",
		},
		"terminated": {
			v1.Error{Code: "TERMINATED", Message: "interrupted", Workspace: &scheduling},
			"interrupted after 10s: still Scheduling",
		},
		"interrupted before a stage": {v1.Error{Code: "INTERRUPTED", Message: "interrupted"}, "interrupted after 10s"},
		"timed out": {
			v1.Error{
				Code: "DEADLINE_EXCEEDED", Message: "timed out after 10s: still Scheduling",
				Workspace: &scheduling,
			},
			"timed out after 10s: still Scheduling",
		},
		"timed out, with what was ignored": {
			v1.Error{
				Code:      "DEADLINE_EXCEEDED",
				Message:   "timed out after 10s: still Starting: no image; ignored on request: ImageNotFound",
				Workspace: &ignoring,
			},
			"timed out after 10s: still Starting: no image; ignored on request: ImageNotFound",
		},
		"timed out at once": {
			v1.Error{
				Code: "DEADLINE_EXCEEDED", Message: "timed out after 10s: nothing is installed yet",
				Detail: "nothing is installed yet", Workspace: &none,
			},
			"timed out after 10s: nothing is installed yet",
		},
		"timed out elsewhere": {
			v1.Error{Code: "DEADLINE_EXCEEDED", Message: "timed out after 10s"},
			"timed out after 10s",
		},
	} {
		s := &terminaltest.Script{}
		s.Step(0, "identity", v1.StepBegun, "", 0)
		s.Add(10*sc, v1.Event{Result: &v1.Result{Error: &test.e}})
		_, plain := render(t, s, "text")
		live := strings.ToLower(strings.Join(strings.Fields(story(s, time.Hour, 100, terminaltest.PlainLook)), " "))
		for look, text := range map[string]string{"plain": plain, "live": live} {
			if n := strings.Count(text, " after 10s"); n != 1 || strings.Count(text, "interrupted") > 1 {
				t.Errorf("%s, %s: said %d times:\n%s", name, look, n, text)
			}
		}
		if line := "error " + test.e.Code + ": " + test.want + "\n"; !strings.Contains(plain, line) ||
			strings.Count(plain, "error") != 1 {
			t.Errorf("%s: want one line with %q:\n%s", name, line, plain)
		}
	}
}
