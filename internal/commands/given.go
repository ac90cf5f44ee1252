package commands

import (
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/berthdev/berth/internal/terminal/wording"
)

// givenFlags are the flags that say where the cluster is, as they were given: a
// command that is proposed must look in the same place. Secrets are not shown.
func givenFlags(cmd *cobra.Command) []string {
	var words []string
	cmd.InheritedFlags().VisitAll(func(flag *pflag.Flag) {
		if !flag.Changed || flag.Name == "token" || flag.Name == "password" {
			return
		}
		name := "--" + flag.Name
		if flag.Shorthand != "" {
			name = "-" + flag.Shorthand
		}
		list, several := flag.Value.(pflag.SliceValue)
		switch {
		case several:
			for _, value := range list.GetSlice() {
				words = append(words, wording.Flag(name, value))
			}
		case flag.NoOptDefVal != "": // a value after a blank would be an argument
			words = append(words, "--"+flag.Name+"="+flag.Value.String())
		default:
			words = append(words, wording.Flag(name, flag.Value.String()))
		}
	})
	return words
}
