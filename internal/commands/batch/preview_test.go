package batch

import (
	"context"
	"errors"
	"testing"

	"github.com/berthdev/berth/internal/fault"
)

// A dry run that runs out of time says that it has changed nothing.
func TestADryRunThatEnds(t *testing.T) {
	broken := errors.New("cannot delete pod/x: would exceed context deadline")
	for _, test := range []struct {
		cause error
		code  fault.Code
		says  string
	}{
		{nil, fault.Internal, broken.Error()},
		{
			fault.New(fault.DeadlineExceeded, "timed out after 2s"), fault.DeadlineExceeded,
			"timed out after 2s while computing the changes; nothing was changed",
		},
		{fault.New(fault.Interrupted, "interrupted"), fault.Interrupted, "interrupted"},
	} {
		ctx, cancel := context.WithCancelCause(t.Context())
		if test.cause != nil {
			cancel(test.cause)
		}
		err := DryRunError(ctx, broken)
		cancel(nil)
		if fault.CodeOf(err) != test.code || err.Error() != test.says {
			t.Errorf("%v: %s %q", test.cause, fault.CodeOf(err), err)
		}
	}
}
