package serve

import (
	"context"
	"path"

	"github.com/spf13/cobra"

	"github.com/berthdev/berth/internal/commands/cmdutil"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/terminal"
)

// roleVolumes is the role that gives pods scratch volumes.
const roleVolumes = "volumes"

const flagNode = "node"

// VolumesOptions are what the command line says.
type VolumesOptions struct {
	IO terminal.Streams

	About
	Scratch
	// Endpoint is the socket of the driver; empty for that in the directory of the kubelet.
	Endpoint string
	Node     string
}

// NewVolumes makes the command `berth serve volumes`.
func NewVolumes(f *cmdutil.Factory, runF func(context.Context, *VolumesOptions) error) *cobra.Command {
	o := &VolumesOptions{IO: f.IO}
	cmd := &cobra.Command{
		Use:   roleVolumes,
		Short: "Give pods of this node scratch volumes, whose data outlives them for a while",
		Long: `Give pods of this node scratch volumes: directories of the node's disk, as inline
(ephemeral) CSI volumes, whose data outlives the pod. This is the CSI driver of one node
(Linux, as root), and registers itself with the kubelet.

When its pod is gone, the data of a volume stays for --afterlife, or for less if the pod
asks for less. While less than --headroom of the disk is free, every such time is
shortened by the part that is missing; the oldest data goes first, and no more than is needed.
Data that is still mounted is never touched.

Health (/healthz, /readyz) and metrics (/metrics) are on a port of their own. Without
a certificate only this host is listened on. What is removed is logged with "msg":"audit".`,
		Example: `  berth serve manifests volumes | kubectl apply --server-side -f -
  berth serve volumes --node "$(hostname)"    on this host, as root`,
		Args:              cmdutil.NoArgs,
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE:              cmdutil.RunE(o, runF, func(*cobra.Command, []string) error { return o.validate() }),
	}
	o.About.flags(cmd)
	o.Scratch.flags(cmd)
	flags := cmd.Flags()
	flags.StringVar(&o.Endpoint, "endpoint", "",
		"the socket of the driver, unix:///PATH (default: plugins/NAME/csi.sock in the kubelet's directory)")
	flags.StringVar(&o.Node, flagNode, "", "the name of this node (required)")
	cmdutil.NoFlagValues(cmd, flagNode)
	return cmd
}

func (o *VolumesOptions) validate() error {
	if o.Node == "" {
		return fault.New(fault.InvalidArgument, "--%s is required: the name of this node", flagNode)
	}
	if err := o.Scratch.validate(); err != nil {
		return err
	}
	o.Directory, o.Kubelet = path.Clean(o.Directory), path.Clean(o.Kubelet)
	return o.About.validate()
}
