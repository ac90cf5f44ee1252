package lifecycle_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/lifecycle"
)

// known makes records of "ID desired actual", of which nothing is pending.
func known(texts ...string) map[string]lifecycle.Record {
	records := map[string]lifecycle.Record{}
	for _, text := range texts {
		words := strings.Fields(text)
		r := lifecycle.New(words[0], "of-"+words[0], time.Time{})
		r.Desired, r.Actual, r.Answered = v1.DesiredState(words[1]), v1.ActualState(words[2]), r.Changed
		records[r.ID] = r
	}
	return records
}

// What is in the answer: with "!" what is to be applied.
func TestExchange(t *testing.T) {
	records := known("runs Running Running", "stays Stopped Stopped", "goes Terminated Terminating",
		"gone Terminated Terminated", "new Running CreationRequested")
	fresh := records["new"]
	fresh.Answered = 0
	records["new"] = fresh
	for name, c := range map[string]struct {
		report lifecycle.Report
		want   string
	}{
		"partial, nothing reported": {lifecycle.Report{}, "goes new!"},
		"partial, something reported": {
			lifecycle.Report{Workspaces: []lifecycle.Reported{{ID: "runs", Actual: "Failed"}}},
			"goes new! runs",
		},
		"full": {lifecycle.Report{Full: true}, "goes! new! runs! stays!"},
		"nobody knows it": {lifecycle.Report{Workspaces: []lifecycle.Reported{
			{ID: "x", Actual: "Running"},
			{ID: "a", Actual: "Running"},
		}}, "goes new!; a x"},
		"of an incarnation before": {lifecycle.Report{Workspaces: []lifecycle.Reported{{
			ID:          "runs",
			Incarnation: "before", Actual: "Terminated",
		}}}, "goes new!"},
		"of this incarnation": {lifecycle.Report{Workspaces: []lifecycle.Reported{{
			ID:          "runs",
			Incarnation: "of-runs", Actual: "Failed",
		}}}, "goes new! runs"},
		"what is gone is seen again": {lifecycle.Report{Workspaces: []lifecycle.Reported{{
			ID:     "gone",
			Actual: "Terminating",
		}}}, "goes gone new!"},
		"what goes is gone": {lifecycle.Report{Workspaces: []lifecycle.Reported{{
			ID:     "goes",
			Actual: "Terminated",
		}}}, "goes new!"},
		"what goes is gone, seen full": {lifecycle.Report{
			Full:       true,
			Workspaces: []lifecycle.Reported{{ID: "goes", Actual: "Terminated"}},
		}, "new! runs! stays!"},
	} {
		t.Run(name, func(t *testing.T) {
			before := fmt.Sprint(records)
			mark := lifecycle.NextMark(records, time.Time{})
			changed, answer, err := lifecycle.Exchange(records, c.report, unlimited, mark)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, w := range answer.Workspaces {
				text := w.ID
				if w.Apply {
					text += "!"
				}
				got = append(got, text)
				if changed[w.ID].Answered != mark.Revision {
					t.Errorf("%s is not marked as answered", w.ID)
				}
			}
			text := strings.Join(got, " ")
			if len(answer.Orphans) > 0 {
				text += "; " + strings.Join(answer.Orphans, " ")
			}
			if text != c.want {
				t.Errorf("%q, want %q", text, c.want)
			}
			if after := fmt.Sprint(records); after != before {
				t.Errorf("the records were changed:\n%s\n%s", before, after)
			}
		})
	}
}

// A wrong report is refused as a whole, with all that is wrong.
func TestExchangeRefused(t *testing.T) {
	changed, _, err := lifecycle.Exchange(known("runs Running Running"),
		lifecycle.Report{Workspaces: []lifecycle.Reported{
			{ID: "runs", Actual: "Failed"},
			{ID: "runs", Actual: "Failing"},
			{Actual: "Running"},
			{ID: "x", Actual: "CreationRequested"},
		}}, unlimited, lifecycle.Mark{Revision: 9})
	var f *fault.Error
	if !errors.As(err, &f) || f.Code != fault.InvalidArgument || len(changed) > 0 {
		t.Fatalf("%v, %v", changed, err)
	}
	want := []string{
		"workspace runs is reported twice", `workspace runs is reported as "Failing", an unknown state`,
		"a workspace without an ID",
		`workspace x is reported as "CreationRequested", an unknown state`,
	}
	if !slices.Equal(f.Problems, want) {
		t.Errorf("%q", f.Problems)
	}
}
