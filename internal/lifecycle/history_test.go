package lifecycle_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/lifecycle"
)

// The history has each pair of states once, in their order, no matter who has changed them.
func TestHistory(t *testing.T) {
	r := lifecycle.New("a", "1", now())
	report := func(actual v1.ActualState, cause string) {
		records := map[string]lifecycle.Record{"a": r}
		changed, _, err := lifecycle.Exchange(records,
			lifecycle.Report{Workspaces: []lifecycle.Reported{{ID: "a", Actual: actual, Cause: cause}}},
			unlimited, lifecycle.NextMark(records, now().Add(time.Minute)))
		if err != nil {
			t.Fatal(err)
		}
		r = changed["a"]
	}
	report(v1.ActualStarting, "")
	report(v1.ActualStarting, "")
	report(v1.ActualFailed, "it crashes")
	var err error
	if r, err = r.Set(v1.DesiredRestart, now()); err != nil {
		t.Fatal(err)
	}
	r = r.Observed(v1.ActualStopped, "", now())
	report(v1.ActualRunning, "")
	var steps []string
	for _, c := range r.History {
		steps = append(steps, strings.TrimSpace(fmt.Sprintf("%s %s %s", c.Desired, c.Actual, c.Cause)))
	}
	const want = "Running CreationRequested, Running Starting, Running Failed it crashes, RestartRequested Failed it crashes, " +
		"RestartRequested Stopped, Running Stopped, Running Running"
	if got := strings.Join(steps, ", "); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// Of a long history the newest is kept, and a record does not change what another one has.
func TestHistoryIsBounded(t *testing.T) {
	r := lifecycle.New("a", "1", now())
	for i := range 100 {
		before, copied := r, append([]v1.StateChange(nil), r.History...)
		r = r.Observed(v1.ActualFailed, fmt.Sprint(i), now())
		if fmt.Sprint(before.History) != fmt.Sprint(copied) {
			t.Fatal("the history of an earlier record has changed")
		}
	}
	if n := len(r.History); n != 16 || r.History[15].Cause != "99" || r.History[0].Cause != "84" {
		t.Errorf("%d changes, from %q", n, r.History[0].Cause)
	}
}
