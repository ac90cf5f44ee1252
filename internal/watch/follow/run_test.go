package follow

import (
	"testing"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/watch"
)

// A warning is news when it comes, when it happens again, and when it is not tentative any more.
func TestWarningsAreNews(t *testing.T) {
	subject := watch.Subject{Kind: watch.KindPod, Namespace: "dev", Name: "web"}
	state, r := watch.NewState(subject), nothingReported(subject)
	for i, step := range []struct {
		tentative bool
		count     int
		isNews    bool
	}{
		{true, 1, true},
		{true, 1, false},
		{true, 2, true},
		{false, 2, true},
		{false, 2, false},
		{true, 2, false},
		{false, 3, true},
	} {
		w := v1.Warning{
			Reason: "FailedScheduling", Message: "no node", Object: "pod/web", Count: step.count,
			Tentative: step.tentative,
		}
		change := r.update(state, v1.Snapshot{Stage: v1.StageScheduling, Warnings: []v1.Warning{w}})
		if change.Changed != (i == 0) {
			t.Errorf("reading %d: but for its warnings it changed: %t", i+1, change.Changed)
		}
		if got := len(change.Warnings) == 1; got != step.isNews {
			t.Errorf("reading %d: %+v is news: %t", i+1, w, got)
		}
	}
}
