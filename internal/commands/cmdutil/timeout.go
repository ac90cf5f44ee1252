package cmdutil

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	"github.com/berthdev/berth/internal/fault"
)

// AddTimeoutFlag adds the --timeout of a command that waits.
func AddTimeoutFlag(cmd *cobra.Command, timeout *time.Duration) {
	cmd.Flags().DurationVar(timeout, "timeout", 0, "give up after this time, such as 90s or 5m (0: never)")
}

// maxTimeout is a year: whoever asks for more means never.
const maxTimeout = 365 * 24 * time.Hour

// CheckTimeout refuses a --timeout that is negative or absurd.
func CheckTimeout(timeout time.Duration) error {
	switch {
	case timeout < 0:
		return fault.New(fault.InvalidArgument, "--timeout must not be negative, got %s", timeout)
	case timeout > maxTimeout:
		return fault.New(fault.InvalidArgument, "--timeout must be at most %s, got %s; 0 is never", maxTimeout, timeout)
	}
	return nil
}

// WithTimeout ends the context after --timeout; 0 is never.
func WithTimeout(ctx context.Context, timeout time.Duration) (context.Context, context.CancelFunc) {
	if timeout == 0 {
		return ctx, func() {}
	}
	return context.WithTimeoutCause(ctx, timeout, fault.New(fault.DeadlineExceeded, "timed out after %s", timeout))
}

// Because replaces an error that the end of the context has brought about by the
// reason for that end.
func Because(ctx context.Context, err error) error {
	if err == nil || ctx.Err() == nil || fault.CodeOf(err) == fault.CodeOf(context.Cause(ctx)) {
		return err // which may say more than the cause
	}
	return context.Cause(ctx)
}

// FollowEnded is how a command ends that follows until Ctrl-C: to be interrupted
// is how it is meant to end, and no error to print.
func FollowEnded(ctx context.Context, err error) error {
	if err == nil || ctx.Err() == nil {
		return err
	}
	return ExitError(fault.CodeOf(context.Cause(ctx)).Exit())
}
