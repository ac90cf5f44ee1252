package result

import (
	"fmt"
	"testing"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/terminal/wording"
)

// What was not there is not counted among what was deleted.
func TestDeletionsThatFoundNothing(t *testing.T) {
	s := newDeletionSummary(v1.DeletionSummary{
		Items: []v1.DeletionItem{
			{Deletion: &v1.Deletion{NotFound: true}},
			{Deletion: &v1.Deletion{Objects: 3}},
			{Deletion: &v1.Deletion{NotFound: true}},
		},
		Totals: v1.Totals{Succeeded: 3, Seconds: 2},
	}, wording.Batch{Members: make([]wording.Title, 3)})
	if head, rest := s.headline(); head != "1 deleted in 2s" || rest != "2 not found" {
		t.Errorf("%q, %q", head, rest)
	}
}

// What is to be typed next is about those that are not done: not about those that are, ran before, or do not exist.
func TestNextOfSeveral(t *testing.T) {
	b := wording.Batch{
		Members: make([]wording.Title, 4), Again: "berth stop --owner alice",
		AgainFor: func(members []int) string {
			return fmt.Sprint("berth stop ", members)
		},
	}
	failed, gone := &v1.Error{Code: "FAILED"}, &v1.Error{Code: "NOT_FOUND"}
	late := &v1.Error{Code: "DEADLINE_EXCEEDED"}
	runs := &v1.Error{Code: "ALREADY_EXISTS", Workspace: &v1.Workspace{}}
	for _, test := range []struct {
		errs [4]*v1.Error
		want string
	}{
		{[4]*v1.Error{nil, failed, nil, nil}, "berth stop [1]"},
		{[4]*v1.Error{late, runs, gone, failed}, "berth stop [0 3]"},
		{[4]*v1.Error{late, late, late, late}, "berth stop --owner alice"},
		{[4]*v1.Error{nil, gone, nil, nil}, ""},
		{[4]*v1.Error{}, ""},
	} {
		s := v1.StateSummary{}
		for _, err := range test.errs {
			s.Items = append(s.Items, v1.StateItem{Error: err, Stop: &v1.Stop{}})
		}
		got := ""
		for _, command := range newStateSummary(s, b).next() {
			got = command.Line
		}
		if got != test.want {
			t.Errorf("%v: %q, want %q", test.errs, got, test.want)
		}
	}
}
