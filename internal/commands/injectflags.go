package commands

import (
	"github.com/spf13/cobra"

	"github.com/berthdev/berth/internal/provision"
)

// injectFlags are those that matter for a workspace in somebody else's workload.
type injectFlags struct {
	force bool
}

func (f *injectFlags) register(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&f.force, "force", false,
		"inject into a workload also where its rollout is paused, it has no replicas, or only one of them can mount the storage")
}

func (f *injectFlags) apply(p *provision.Provisioner) { p.Injection.Force = f.force }
