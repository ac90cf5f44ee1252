package job

import (
	"fmt"
	"slices"
	"testing"

	v1 "github.com/berthdev/berth/api/v1"
)

// What may be left out first: events and steps, and then readings of a stage that was reached
// before; never what has been noted of that, a change of stage or the result, whatever it says.
func TestWhatMayBeLeftOut(t *testing.T) {
	entries := []v1.JobEvent{
		{ID: "begins", Type: v1.JobEventStatus, Message: "Starting: a"},
		{ID: "reads", Type: v1.JobEventStatus, Message: "Starting: b"},
		{ID: "event", Type: v1.JobEventKubernetes, ObjectName: "pod/a", Message: "Starting: c"},
		{ID: "step", Type: v1.JobEventProgress, ObjectName: "install", Message: "Starting"},
		{ID: "note", Type: v1.JobEventProgress, ObjectName: leftOutName, Message: "Starting"},
		{ID: "reads again", Type: v1.JobEventStatus, Message: "Starting: d"},
		{ID: "changes", Type: v1.JobEventStatus, Message: "Running"},
		{ID: "goes back", Type: v1.JobEventStatus, Message: "Starting"},
		{ID: "result", Type: v1.JobEventProgress, ObjectName: resultName, Message: "Starting"},
	}
	for name, c := range map[string]struct {
		may  func([]v1.JobEvent, int) bool
		want []string
	}{
		"first": {isEventOrStep, []string{"event", "step"}}, "then": {isSameStage, []string{"reads", "reads again"}},
	} {
		var got []string
		for i := range entries {
			if c.may(entries, i) {
				got = append(got, entries[i].ID)
			}
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

// A quarter of what may go is left out at a time, the oldest of it, and counted with what was left
// out before.
func TestTrim(t *testing.T) {
	for n, left := range map[int]int{1: 0, 4: 3, 5: 3, 8: 6, 9: 6} {
		var r Record
		for i := range n {
			r.Events = append(r.Events, v1.JobEvent{ID: fmt.Sprint(i + 1), Type: v1.JobEventKubernetes})
		}
		for _, before := range []int{0, 7} {
			if before > 0 {
				r.Events = append([]v1.JobEvent{{ID: "0", ObjectName: leftOutName, Message: fmt.Sprintf(leftOutText, before)}},
					r.Events...)
			}
			got, ok := r.trim(isEventOrStep)
			if !ok || len(got.Events) != left+1 || got.Events[0].Message != fmt.Sprintf(leftOutText, before+n-left) ||
				got.Events[0].ObjectName != leftOutName {
				t.Errorf("%d: %+v", n, got.Events)
			}
		}
	}
}
