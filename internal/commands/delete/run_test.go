package delete

import (
	"context"
	"errors"
	"testing"

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
		if got := orDenied(test.err); fault.CodeOf(got) != test.want {
			t.Errorf("%v became %v", test.err, got)
		}
	}
}

// Nothing is begun once the time is over: without a provisioner it would panic.
func TestNoTimeLeft(t *testing.T) {
	ctx, stop := context.WithCancelCause(t.Context())
	stop(fault.New(fault.DeadlineExceeded, "timed out after 1s"))
	got := new(Options).deleteOne(ctx, nil, removal{err: fault.New(fault.NotFound, "gone")}, nil)
	if got.Error == nil || got.Error.Message != "timed out after 1s: not started" {
		t.Errorf("%+v", got)
	}
}
