package provision

import (
	"slices"
	"testing"
	"time"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/fault"
)

// The exit status of a batch: any failure is 3; an interruption is its own.
func TestSummarize(t *testing.T) {
	ok := v1.ProvisionItem{Workspace: &v1.Workspace{}}
	failed := func(code fault.Code) v1.ProvisionItem {
		return v1.ProvisionItem{Error: &v1.Error{Code: string(code), ExitStatus: code.Exit()}}
	}
	for _, test := range []struct {
		items []v1.ProvisionItem
		want  int
	}{
		{nil, 0},
		{[]v1.ProvisionItem{ok, ok}, 0},
		{[]v1.ProvisionItem{ok, failed(fault.Failed)}, 3},
		{[]v1.ProvisionItem{failed(fault.DeadlineExceeded), failed(fault.DeadlineExceeded)}, 3},
		{[]v1.ProvisionItem{failed(fault.Unavailable), ok, failed(fault.AlreadyExists)}, 3},
		{[]v1.ProvisionItem{failed(fault.Interrupted), failed(fault.Failed)}, 130},
		{[]v1.ProvisionItem{failed(fault.Failed), failed(fault.Terminated), failed(fault.Failed), ok}, 143},
	} {
		s := summarize(test.items, time.Second, 7)
		good := len(slices.DeleteFunc(slices.Clone(test.items), func(i v1.ProvisionItem) bool { return i.Error != nil }))
		if s.ExitStatus != test.want || s.Succeeded != good || s.Succeeded+s.Failed != len(test.items) {
			t.Errorf("%+v: %+v, want status %d", test.items, s, test.want)
		}
	}
}
