package commands

import (
	"github.com/spf13/cobra"

	"github.com/berthdev/berth/internal/watch/cause"
)

// addPolicyFlags adds the flags that say what counts as a failure, and when. The
// configuration reads them: they take precedence over the variables and the file.
func addPolicyFlags(cmd *cobra.Command) {
	p := cause.DefaultPolicy()
	flags := cmd.Flags()
	flags.String("policy", p.Name, "fail at once (fast), or give what is known to pass some time (patient)")
	flags.Int("crash-loop-threshold", p.CrashLoopThreshold, "restarts of one container that are still no failure")
	flags.Duration("pull-delay", p.PullDelay, "how long an image is pulled before it is mentioned")
	flags.Duration("grace-period", p.GracePeriod, "how long --policy patient waits without progress for what is known to pass")
	flags.StringSlice("ignore-reason", nil, "a cause, or Kubernetes' reason, that shall fail nothing, such as CrashLoop or ErrImagePull; can be repeated")

	_ = cmd.RegisterFlagCompletionFunc("policy", cobra.FixedCompletions([]cobra.Completion{
		cobra.CompletionWithDesc(cause.Fast, "fail at once"),
		cobra.CompletionWithDesc(cause.Patient, "give what is known to pass some time"),
	}, cobra.ShellCompDirectiveNoFileComp))
	_ = cmd.RegisterFlagCompletionFunc("ignore-reason", completeReasons)
	_ = cmd.RegisterFlagCompletionFunc("crash-loop-threshold", cobra.NoFileCompletions)
	_ = cmd.RegisterFlagCompletionFunc("pull-delay", cobra.FixedCompletions([]cobra.Completion{"0s", "8s", "30s"}, cobra.ShellCompDirectiveNoFileComp))
	_ = cmd.RegisterFlagCompletionFunc("grace-period", cobra.FixedCompletions([]cobra.Completion{"1m", "10m", "30m"}, cobra.ShellCompDirectiveNoFileComp))
}

func completeReasons(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
	codes, kubernetes := cause.Reasons()
	return append(codes, kubernetes...), cobra.ShellCompDirectiveNoFileComp
}

const policies = `A policy says what counts as a failure, and when.

  fast       (the default) what the flow calls critical fails as soon as it is
             seen: an image that cannot be pulled, the first failure of an init
             container, more than 2 restarts of a container, out of memory, a
             claim that no volume exists for
  patient    for clusters that grow by themselves and registries that are not
             always there: what is known to pass is a warning at first, and
             fails once it has lasted for the grace period without progress

Known to pass are: a registry that answers 429 or 5xx, does not answer in time
or refuses the connection; a DNS server that does not answer; no node as long
as one is being added; a volume that another node has not given back. Under
patient the threshold of the crash loop holds for init containers, too.

What will not pass fails at once under both: an image that is not there or that
may not be pulled, a name that is malformed, a program that is missing or built
for another processor, a key that does not exist.

Each --ignore-reason names a cause (CrashLoop) or Kubernetes' own word
(CrashLoopBackOff), in upper or lower case, that shall fail nothing. ErrImagePull
and ImagePullBackOff are one. A pod that has ended cannot be ignored. What was
ignored is said when --timeout ends the waiting.

In the configuration file, with what holds if nothing is said:

  policy:
    name: fast                # BERTH_POLICY, --policy
    crashLoopThreshold: 2     # BERTH_CRASH_LOOP_THRESHOLD, --crash-loop-threshold
    pullDelay: 8s             # BERTH_PULL_DELAY, --pull-delay
    gracePeriod: 10m          # BERTH_GRACE_PERIOD, --grace-period
    ignoreReasons: []         # BERTH_IGNORE_REASONS=A,B, --ignore-reason

A list that takes precedence replaces the other.`
