package delete

import (
	"context"
	"testing"

	"github.com/berthdev/berth/internal/commands/cmdutil/chosen"
	"github.com/berthdev/berth/internal/fault"
)

// Nothing is begun once the time is over: without a provisioner it would panic.
func TestNoTimeLeft(t *testing.T) {
	ctx, stop := context.WithCancelCause(t.Context())
	stop(fault.New(fault.DeadlineExceeded, "timed out after 1s"))
	got := new(Options).deleteOne(ctx, nil, chosen.Workspace{Err: fault.New(fault.NotFound, "gone")}, nil)
	if got.Error == nil || got.Error.Message != "timed out after 1s: not started" {
		t.Errorf("%+v", got)
	}
}
