package commands

import (
	"github.com/spf13/cobra"

	"github.com/berthdev/berth/internal/provision"
)

// aboutOnFailure is what the help of provision says about --on-failure.
const aboutOnFailure = `
If the workspace fails, or --timeout ends the waiting, what was created is kept,
for somebody to look at. With --on-failure delete, what this run created is
removed, after its cause and its last words are collected: claims, too, but none
that were there before, and no namespace. A workspace that this run injected is
taken out of its workload, unless it was in there before or somebody else has
changed it since: then it is kept, and said why. Ctrl-C keeps everything. The exit
status is the same.
`

// onFailureFlag says what becomes of what was made if it comes to nothing.
type onFailureFlag struct{ value provision.OnFailure }

func (f *onFailureFlag) register(cmd *cobra.Command) {
	known := []provision.OnFailure{provision.KeepOnFailure, provision.DeleteOnFailure}
	f.value = provision.KeepOnFailure
	cmd.Flags().Var(choice[provision.OnFailure]{known, &f.value}, "on-failure", "what becomes of what was created if the workspace fails or the time is over: "+words(known))
	_ = cmd.RegisterFlagCompletionFunc("on-failure", completeList(known))
}
