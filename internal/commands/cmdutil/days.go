package cmdutil

import (
	"errors"
	"time"

	"github.com/prometheus/common/model"
	"github.com/spf13/cobra"
)

// DaysVar adds a flag whose value is a duration that may be long: 90m, 24h, 7d, 2w.
func DaysVar(cmd *cobra.Command, value *time.Duration, name, usage string) {
	cmd.Flags().Var((*days)(value), name, usage)
	_ = cmd.RegisterFlagCompletionFunc(name, cobra.FixedCompletions([]string{"1h", "24h", "7d", "30d"}, cobra.ShellCompDirectiveNoFileComp))
}

// days is the pflag.Value of a duration with days and weeks, as Prometheus writes it.
type days time.Duration

// String is empty for no duration: help shows no default then.
func (d *days) String() string {
	if *d == 0 {
		return ""
	}
	return model.Duration(*d).String()
}

// Type is what help shows as the value.
func (d *days) Type() string { return "duration" }

// Set reads the duration.
func (d *days) Set(text string) error {
	parsed, err := model.ParseDuration(text)
	if err != nil {
		return errors.New("must be a duration, such as 90m, 24h or 7d")
	}
	*d = days(parsed)
	return nil
}
