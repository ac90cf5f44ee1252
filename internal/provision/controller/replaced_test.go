package controller

import (
	"testing"
	"time"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/lifecycle"
)

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
