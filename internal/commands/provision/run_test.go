package provision

import (
	"context"
	"testing"

	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/userstring"
)

// Nothing is begun once the time is over: without a provisioner it would panic.
func TestNoTimeLeft(t *testing.T) {
	ctx, stop := context.WithCancelCause(t.Context())
	stop(fault.New(fault.DeadlineExceeded, "timed out after 1s"))
	got := new(Options).provisionOne(ctx, nil, userstring.UserString{User: "alice"}, nil)
	if got.Error == nil || got.Error.Message != "timed out after 1s: not started" {
		t.Errorf("%+v", got)
	}
}
