package delete

import (
	"errors"
	"testing"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/fault"
)

// The exit status of several is that of a batch.
func TestSummarizeDeletions(t *testing.T) {
	gone := v1.DeletionItem{Deletion: &v1.Deletion{Gone: true}}
	failed := func(code fault.Code) v1.DeletionItem {
		return v1.DeletionItem{Error: &v1.Error{Code: string(code), ExitStatus: code.Exit()}}
	}
	for _, test := range []struct {
		items []v1.DeletionItem
		want  int
	}{
		{nil, 0},
		{[]v1.DeletionItem{gone, gone}, 0},
		{[]v1.DeletionItem{gone, failed(fault.NotFound)}, 3},
		{[]v1.DeletionItem{failed(fault.DeadlineExceeded)}, 3},
		{[]v1.DeletionItem{failed(fault.Interrupted), failed(fault.Conflict), gone}, 130},
	} {
		got := *(&Options{ByOwner: true}).result(test.items, 0, 0).Deletions
		if got.ExitStatus != test.want || got.Succeeded+got.Failed != len(test.items) {
			t.Errorf("%+v: %+v, want %d", test.items, got, test.want)
		}
	}
}

// Only what was not found for want of a permission is that; everything else stays.
func TestOrDenied(t *testing.T) {
	denied := fault.New(fault.PermissionDenied, "you may not list secrets")
	gone := fault.New(fault.NotFound, "there is none")
	for _, test := range []struct {
		err  error
		want fault.Code
	}{
		{nil, ""},
		{denied, fault.PermissionDenied},
		{gone, fault.NotFound},
		{fault.New(fault.NotFound, "it cannot be seen: %w", denied), fault.PermissionDenied},
		{fault.New(fault.NotFound, "it cannot be read: %w", gone), fault.NotFound},
		{errors.New("nobody expected this"), fault.Internal},
	} {
		if got := orDenied(test.err); fault.CodeOf(got) != test.want {
			t.Errorf("%v became %v", test.err, got)
		}
	}
}
