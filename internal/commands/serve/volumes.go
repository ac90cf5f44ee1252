package serve

import (
	"cmp"
	"context"
	"fmt"
	"path"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/berthdev/berth/internal/commands/cmdutil"
	"github.com/berthdev/berth/internal/kube"
	"github.com/berthdev/berth/internal/serve"
	"github.com/berthdev/berth/internal/terminal"
	"github.com/berthdev/berth/internal/volume"
)

// roleVolumes is the role that gives pods scratch volumes.
const roleVolumes = "volumes"

const flagNode = "node"

// VolumesOptions are what the command line says.
type VolumesOptions struct {
	IO     terminal.Streams
	Client func() (*kube.Client, error)

	About
	Scratch
	Reading
	// Endpoint is the socket of the driver; empty for that in the directory of the kubelet.
	Endpoint string
	Node     string
}

// NewVolumes makes the command `berth serve volumes`.
func NewVolumes(f *cmdutil.Factory, runF func(context.Context, *VolumesOptions) error) *cobra.Command {
	o := &VolumesOptions{IO: f.IO, Client: f.Client}
	cmd := &cobra.Command{
		Use:   roleVolumes,
		Short: "Give pods of this node scratch volumes, whose data outlives them for a while",
		Long: `Give pods of this node scratch volumes: directories of the node's disk, as inline
(ephemeral) CSI volumes, whose data outlives the pod. This is the CSI driver of one node
(Linux, as root), and registers itself with the kubelet.

When its pod is gone, the data of a volume stays for --afterlife, or for less if the pod
asks for less. While less than --headroom of the disk is free, every such time is
shortened by the part that is missing; the oldest data goes first, and no more than is needed.
The oldest also goes where more than --max-queued volumes wait. Data that is still mounted is
never touched.

A directory of katbox is taken over, and so are the names of katbox's flags, such as
--afterlifespan and --workdir; docs/volumes.md says how to come from there.

With --read-listen, users list and read what their pods have left (berth volume list, read
and cp with --read-url): with a token, or a client certificate of --client-ca, and the
permissions list and get on scratchvolumes of the group berth.dev in the namespace of the
pod. The name there is that of the workspace, or of the pod. The resource exists in
Roles alone; the API server is asked by the credentials of the kubeconfig, or of this pod.
Each request of a user it knows leaves a line in the log with "msg":"audit".

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
	o.Reading.flags(cmd)
	flags := cmd.Flags()
	flags.StringVar(&o.Endpoint, "endpoint", "",
		"the socket of the driver, unix:///PATH (default: plugins/NAME/csi.sock in the kubelet's directory)")
	flags.StringVar(&o.Node, flagNode, "", "the name of this node (required)")
	cmdutil.NoFlagValues(cmd, flagNode)
	return cmd
}

func (o *VolumesOptions) validate() error {
	if o.Node == "" {
		return invalid("--%s is required: the name of this node", flagNode)
	}
	if err := o.Scratch.validate(); err != nil {
		return err
	}
	if err := o.Reading.validate(o.Cert); err != nil {
		return err
	}
	o.Directory, o.Kubelet = path.Clean(o.Directory), path.Clean(o.Kubelet)
	return o.About.validate()
}

// Reading is how a driver lets users read what their pods have left.
type Reading struct {
	ReadListen string // empty for not at all
	ClientCA   string // a file
}

const flagReadListen = "read-listen"

func (r *Reading) flags(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&r.ReadListen, flagReadListen, "",
		"the address on which users read what their pods have left (default: none)")
	flags.StringVar(&r.ClientCA, serve.FlagClientCA, "",
		"the file of the authorities of client certificates (default: only tokens are taken)")
}

func (r *Reading) validate(cert string) error {
	switch {
	case r.ClientCA != "" && r.ReadListen == "":
		return invalid("--%s requires --%s", serve.FlagClientCA, flagReadListen)
	case r.ClientCA != "" && cert == "":
		return invalid("--%s requires --tls-cert: there are no client certificates without TLS", serve.FlagClientCA)
	}
	return nil
}

// Scratch is how scratch volumes are kept on a node.
type Scratch struct {
	Driver, Directory, Kubelet string
	Afterlife, PruneInterval   time.Duration
	Headroom                   float64
	MaxVolumes                 int64
	MaxQueued                  int
}

// DefaultScratch is how a driver keeps them that is told nothing else.
func DefaultScratch() Scratch {
	return Scratch{
		Driver: volume.DriverName, Directory: volume.Directory, Kubelet: "/var/lib/kubelet",
		Afterlife: 12 * time.Hour, PruneInterval: 5 * time.Second, Headroom: 0.1, MaxQueued: 10_000,
	}
}

const (
	flagDriver        = "driver-name"
	flagDirectory     = "directory"
	flagKubelet       = "kubelet-directory"
	flagAfterlife     = "afterlife"
	flagPruneInterval = "prune-interval"
	flagHeadroom      = "headroom"
	flagMaxVolumes    = "max-volumes"
	flagMaxQueued     = "max-queued"
)

// ofKatbox are the names of katbox's flags.
func ofKatbox() map[string]string {
	return map[string]string{
		"afterlifespan": flagAfterlife, "afterLifespan": flagAfterlife, "workdir": flagDirectory,
		"drivername": flagDriver, "nodeid": flagNode, "pruneinterval": flagPruneInterval,
		"maxvolumespernode": flagMaxVolumes,
	}
}

// asKatbox lets a command take katbox's names of flags, beside its own. No help names them.
func asKatbox(_ *pflag.FlagSet, name string) pflag.NormalizedName {
	return pflag.NormalizedName(cmp.Or(ofKatbox()[name], name))
}

func (s *Scratch) flags(cmd *cobra.Command) {
	flags, d := cmd.Flags(), DefaultScratch()
	flags.StringVar(&s.Driver, flagDriver, d.Driver, "the name of the CSI driver of scratch volumes")
	flags.StringVar(&s.Directory, flagDirectory, d.Directory, "the directory of a node that has the volumes")
	flags.StringVar(&s.Kubelet, flagKubelet, d.Kubelet, "the directory of the kubelet")
	flags.DurationVar(&s.Afterlife, flagAfterlife, d.Afterlife, "how long data outlives its pod at most")
	flags.DurationVar(&s.PruneInterval, flagPruneInterval, d.PruneInterval,
		"how often the driver looks for what is to go")
	flags.Float64Var(&s.Headroom, flagHeadroom, d.Headroom,
		"the part of the disk that is to be free, from 0 to 1: with less, data goes earlier")
	flags.Int64Var(&s.MaxVolumes, flagMaxVolumes, d.MaxVolumes,
		"how many scratch volumes pods of a node use at most (0: any number)")
	flags.IntVar(&s.MaxQueued, flagMaxQueued, d.MaxQueued,
		"how many volumes whose pods are gone a node keeps at most; the oldest of more go (0: any number)")
	flags.SetNormalizeFunc(asKatbox)
	cmdutil.NoFlagValues(cmd, flagDriver, flagHeadroom, flagMaxVolumes, flagMaxQueued)
}

func (s *Scratch) validate() error {
	switch {
	case len(validation.IsDNS1123Subdomain(s.Driver)) > 0 || len(s.Driver) > 63:
		return invalid("--%s must be a DNS name of at most 63 characters, got %q", flagDriver, s.Driver)
	case !isDirectory(s.Directory):
		return invalid("--%s must be an absolute path, got %q", flagDirectory, s.Directory)
	case !isDirectory(s.Kubelet):
		return invalid("--%s must be an absolute path, got %q", flagKubelet, s.Kubelet)
	case s.Afterlife < 0:
		return invalid("--%s must not be negative, got %s", flagAfterlife, s.Afterlife)
	case s.PruneInterval <= 0:
		return invalid("--%s must be positive, got %s", flagPruneInterval, s.PruneInterval)
	case !(s.Headroom >= 0 && s.Headroom <= 1): // NaN is neither
		return invalid("--%s must be from 0 to 1, got %v", flagHeadroom, s.Headroom)
	case s.MaxVolumes < 0:
		return invalid("--%s must not be negative, got %d", flagMaxVolumes, s.MaxVolumes)
	case s.MaxQueued < 0:
		return invalid("--%s must not be negative, got %d", flagMaxQueued, s.MaxQueued)
	}
	return nil
}

// isDirectory says whether a path can be that of a directory of a node, but its root.
func isDirectory(at string) bool { return path.IsAbs(at) && path.Clean(at) != "/" }

// arguments are those of a driver, without what is the default.
func (s *Scratch) arguments() (all []string) {
	d := DefaultScratch()
	add := func(differs bool, flag string, value any) {
		if differs {
			all = append(all, fmt.Sprintf("--%s=%v", flag, value))
		}
	}
	add(s.Driver != d.Driver, flagDriver, s.Driver)
	add(s.Directory != d.Directory, flagDirectory, s.Directory)
	add(s.Kubelet != d.Kubelet, flagKubelet, s.Kubelet)
	add(s.Afterlife != d.Afterlife, flagAfterlife, s.Afterlife)
	add(s.PruneInterval != d.PruneInterval, flagPruneInterval, s.PruneInterval)
	add(s.Headroom != d.Headroom, flagHeadroom, s.Headroom)
	add(s.MaxVolumes != d.MaxVolumes, flagMaxVolumes, s.MaxVolumes)
	add(s.MaxQueued != d.MaxQueued, flagMaxQueued, s.MaxQueued)
	return all
}
