package cmdutil

import (
	"context"
	"io"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/berthdev/berth/internal/apply"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/watch/cause"
)

// AddTimeoutFlag adds the --timeout of a command that waits.
func AddTimeoutFlag(cmd *cobra.Command, timeout *time.Duration) {
	cmd.Flags().DurationVar(timeout, "timeout", 0, "give up after this time, such as 90s or 5m (0: never)")
}

// maxTimeout is a year: more than that means never.
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

// AddStuckAfterFlag adds the --stuck-after of a command that waits for a workspace, which the
// configuration reads.
func AddStuckAfterFlag(cmd *cobra.Command, after *time.Duration) {
	const flag = "stuck-after"
	cmd.Flags().DurationVar(
		after, flag, 0,
		"give up once only a person can change what it waits for, and nothing has changed for this time (0: never)",
	)
	_ = cmd.RegisterFlagCompletionFunc(
		flag, cobra.FixedCompletions([]cobra.Completion{"1m", "5m", "15m"}, cobra.ShellCompDirectiveNoFileComp),
	)
}

// CheckStuckAfter refuses --stuck-after where nothing is waited for. In the configuration it
// may stand for the commands that do wait.
func CheckStuckAfter(after time.Duration, noWait bool) error {
	if after != 0 && noWait {
		return fault.New(
			fault.InvalidArgument, "--stuck-after and --no-wait are mutually exclusive: nothing is waited for",
		)
	}
	return nil
}

// AddPolicyFlags adds the flags that say what counts as a failure, and when. The
// configuration reads them: they take precedence over variables and file.
func AddPolicyFlags(cmd *cobra.Command) {
	p := cause.DefaultPolicy()
	flags := cmd.Flags()
	flags.String("policy", p.Name, "fail at once (fast), or give known transient causes some time (patient)")
	flags.Int("crash-loop-threshold", p.CrashLoopThreshold, "how many restarts of a container are not yet a failure")
	flags.Duration("pull-delay", p.PullDelay, "how long an image is pulled before the stage Pulling is reported")
	flags.Duration(
		"grace-period", p.GracePeriod, "how long --policy patient waits without progress for a transient cause",
	)
	flags.StringSlice(
		"ignore-reason", nil,
		"a cause, or Kubernetes' reason, that is not a failure, such as CrashLoop or ErrImagePull (repeatable)",
	)

	fixed := func(flag string, values ...cobra.Completion) {
		_ = cmd.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp))
	}
	fixed("policy", cobra.CompletionWithDesc(cause.Fast, "fail at once"),
		cobra.CompletionWithDesc(cause.Patient, "give known transient causes some time"))
	fixed("pull-delay", "0s", "8s", "30s")
	fixed("grace-period", "1m", "10m", "30m")
	_ = cmd.RegisterFlagCompletionFunc("ignore-reason", CompleteList(Causes))
	NoFlagValues(cmd, "crash-loop-threshold")
}

// PolicyOrDefault is the configured policy; the default one where the configuration cannot be read.
func (d *Dependencies) PolicyOrDefault() cause.Policy {
	c, err := d.Config()
	if err != nil {
		return cause.DefaultPolicy()
	}
	return c.Policy
}

// AddDryRunFlag adds --dry-run.
func AddDryRunFlag(cmd *cobra.Command, mode *apply.DryRun) {
	EnumVar(
		cmd, mode, "dry-run",
		"print the objects that would change, and change nothing; with server, the API server checks them",
		apply.DryRunClient, apply.DryRunServer,
	)
}

// AddTrustFlag adds the flag by which records are believed whose authors the cluster does
// not check.
func AddTrustFlag(cmd *cobra.Command, trust *bool) {
	cmd.Flags().BoolVar(
		trust, "trust-records", false,
		"do whatever is recorded, also for those who may not do it themselves; storage is kept",
	)
}

// ReadFile reads a file that a flag names, or standard input for -, of so many bytes at
// most.
func ReadFile(path string, stdin io.Reader, most int64, flag string) ([]byte, error) {
	name, source := "standard input", stdin
	if path != "-" {
		file, err := os.Open(path)
		if err != nil {
			return nil, fault.New(fault.InvalidArgument, "cannot read the file of %s: %w", flag, err)
		}
		defer file.Close()
		name, source = path, file
	}
	content, err := io.ReadAll(io.LimitReader(source, most+1))
	switch {
	case err != nil:
		return nil, fault.New(fault.InvalidArgument, "cannot read the file of %s: %s: %w", flag, name, err)
	case int64(len(content)) > most:
		return nil, fault.New(
			fault.InvalidArgument, "the file of %s is too large: %s has more than %d bytes", flag, name, most,
		)
	}
	return content, nil
}
