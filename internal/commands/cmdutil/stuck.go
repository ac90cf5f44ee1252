package cmdutil

import (
	"time"

	"github.com/spf13/cobra"

	"github.com/berthdev/berth/internal/fault"
)

// AddStuckAfterFlag adds the --stuck-after of a command that waits for a workspace, which the
// configuration reads.
func AddStuckAfterFlag(cmd *cobra.Command, after *time.Duration) {
	const flag = "stuck-after"
	cmd.Flags().DurationVar(after, flag, 0, "give up once only a person can change what it waits for, and nothing has changed for this time (0: never)")
	_ = cmd.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions([]cobra.Completion{"1m", "5m", "15m"}, cobra.ShellCompDirectiveNoFileComp))
}

// CheckStuckAfter refuses --stuck-after where nothing is waited for. In the configuration it
// may stand for the commands that do wait.
func CheckStuckAfter(after time.Duration, noWait bool) error {
	if after != 0 && noWait {
		return fault.New(fault.InvalidArgument, "--stuck-after and --no-wait are mutually exclusive: nothing is waited for")
	}
	return nil
}
