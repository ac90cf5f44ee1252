package cmdutil

import (
	"github.com/spf13/cobra"

	"github.com/berthdev/berth/internal/fault"
)

// AddStuckAfterFlag adds the --stuck-after of a command that waits for a workspace, which the
// configuration reads. It is refused with --no-wait; in the configuration it may stand for
// the commands that do wait.
func AddStuckAfterFlag(cmd *cobra.Command) {
	const flag = "stuck-after"
	cmd.Flags().Duration(flag, 0, "give up once only a person can change what it waits for, and nothing has changed for this time (0: never)")
	_ = cmd.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions([]cobra.Completion{"1m", "5m", "15m"}, cobra.ShellCompDirectiveNoFileComp))
	cmd.PreRunE = func(cmd *cobra.Command, _ []string) error {
		if cmd.Flags().Changed(flag) && cmd.Flags().Changed("no-wait") {
			return UsageError(cmd, fault.New(fault.InvalidArgument, "--stuck-after and --no-wait are mutually exclusive: nothing is waited for"))
		}
		return nil
	}
}
