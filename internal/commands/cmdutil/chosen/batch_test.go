package chosen_test

import (
	"errors"
	"testing"

	"github.com/berthdev/berth/internal/commands/cmdutil/chosen"
	"github.com/berthdev/berth/internal/fault"
)

// Only what was not found for want of a permission is that; everything else stays.
func TestOrDenied(t *testing.T) {
	denied := fault.New(fault.PermissionDenied, "you may not list secrets")
	gone := fault.New(fault.NotFound, "not found")
	for _, test := range []struct {
		err  error
		want fault.Code
	}{
		{nil, ""},
		{denied, fault.PermissionDenied},
		{gone, fault.NotFound},
		{fault.New(fault.NotFound, "it cannot be seen: %w", denied), fault.PermissionDenied},
		{fault.New(fault.NotFound, "it cannot be read: %w", gone), fault.NotFound},
		{errors.New("unexpected"), fault.Internal},
	} {
		if got := chosen.OrDenied(test.err); fault.CodeOf(got) != test.want {
			t.Errorf("%v became %v", test.err, got)
		}
	}
}
