package cmdutil

import (
	"github.com/spf13/cobra"

	"github.com/berthdev/berth/internal/watch/cause"
)

// AddPolicyFlags adds the flags that say what counts as a failure, and when. The
// configuration reads them: they take precedence over variables and file.
func AddPolicyFlags(cmd *cobra.Command) {
	p := cause.DefaultPolicy()
	flags := cmd.Flags()
	flags.String("policy", p.Name, "fail at once (fast), or give known transient causes some time (patient)")
	flags.Int("crash-loop-threshold", p.CrashLoopThreshold, "how many restarts of a container are not yet a failure")
	flags.Duration("pull-delay", p.PullDelay, "how long an image is pulled before the stage Pulling is reported")
	flags.Duration("grace-period", p.GracePeriod, "how long --policy patient waits without progress for a transient cause")
	flags.StringSlice("ignore-reason", nil, "a cause, or Kubernetes' reason, that is not a failure, such as CrashLoop or ErrImagePull (repeatable)")

	fixed := func(flag string, values ...cobra.Completion) {
		_ = cmd.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp))
	}
	fixed("policy", cobra.CompletionWithDesc(cause.Fast, "fail at once"),
		cobra.CompletionWithDesc(cause.Patient, "give known transient causes some time"))
	fixed("pull-delay", "0s", "8s", "30s")
	fixed("grace-period", "1m", "10m", "30m")
	_ = cmd.RegisterFlagCompletionFunc("ignore-reason", completeList(Causes))
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
