package commands

import (
	"github.com/spf13/cobra"

	"github.com/berthdev/berth/internal/terminal"
)

// Tree is the whole command line, to be read and not to be run: what the
// reference, the man pages and the completions are made of.
func Tree() *cobra.Command {
	root := newRoot(newApp(terminal.Streams{}))
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd()
	return root
}
