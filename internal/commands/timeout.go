package commands

import (
	"context"
	"time"

	"github.com/berthdev/berth/internal/fault"
)

// withTimeout ends the context after a command's --timeout; 0 is never.
func withTimeout(ctx context.Context, timeout time.Duration) (context.Context, context.CancelFunc) {
	if timeout == 0 {
		return ctx, func() {}
	}
	return context.WithTimeoutCause(ctx, timeout, fault.New(fault.DeadlineExceeded, "timed out after %s", timeout))
}

// because gives what the end of the context has stopped the reason of that.
func because(ctx context.Context, err error) error {
	if err == nil || ctx.Err() == nil {
		return err
	}
	return context.Cause(ctx)
}
