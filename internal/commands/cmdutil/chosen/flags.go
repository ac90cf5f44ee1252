package chosen

import (
	"strings"

	"github.com/spf13/cobra"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/commands/cmdutil"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/terminal/wording"
)

// addFlags adds the flags that choose workspaces.
func (c *Choice) addFlags(f *cmdutil.Factory, cmd *cobra.Command) {
	flags := cmd.Flags()
	cmdutil.AddOwnerFlag(cmd, &c.Owner, cmd.Name()+" all workspaces of this user")
	flags.BoolVarP(&c.AllNamespaces, "all-namespaces", "A", false, "with --owner: in all namespaces")
	f.CompleteFrom(cmd, "owner", func(w v1.Workspace) string { return w.Owner })
	cmdutil.AddParallelFlag(cmd, &c.Parallel)
}

// Words are the choice as one would type it.
func (c Choice) Words() (words []string) {
	for _, arg := range c.Args {
		words = append(words, fault.Word(arg))
	}
	if c.ByOwner {
		words = append(words, wording.Flag("--owner", c.Owner))
	}
	if c.AllNamespaces {
		words = append(words, "--all-namespaces")
	}
	return append(words, cmdutil.ParallelFlag(c.Parallel)...)
}

// Again is the command with that verb for the same workspaces.
func (c Choice) Again(verb string, flags []string) string {
	return strings.Join(append(append([]string{"berth", verb}, c.Words()...), flags...), " ")
}
