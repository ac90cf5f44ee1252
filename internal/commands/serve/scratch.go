package serve

import (
	"fmt"
	"path"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/berthdev/berth/internal/commands/cmdutil"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/volume"
)

// Scratch is how scratch volumes are kept on a node.
type Scratch struct {
	Driver, Directory, Kubelet string
	Afterlife, PruneInterval   time.Duration
	Headroom                   float64
	MaxVolumes                 int64
}

// DefaultScratch is how a driver keeps them that is told nothing else.
func DefaultScratch() Scratch {
	return Scratch{
		Driver: volume.DriverName, Directory: volume.Directory, Kubelet: "/var/lib/kubelet",
		Afterlife: 12 * time.Hour, PruneInterval: 5 * time.Second, Headroom: 0.1,
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
)

func (s *Scratch) flags(cmd *cobra.Command) {
	flags, d := cmd.Flags(), DefaultScratch()
	flags.StringVar(&s.Driver, flagDriver, d.Driver, "the name of the CSI driver of scratch volumes")
	flags.StringVar(&s.Directory, flagDirectory, d.Directory, "the directory of a node that has the volumes")
	flags.StringVar(&s.Kubelet, flagKubelet, d.Kubelet, "the directory of the kubelet")
	flags.DurationVar(&s.Afterlife, flagAfterlife, d.Afterlife, "how long data outlives its pod at most")
	flags.DurationVar(&s.PruneInterval, flagPruneInterval, d.PruneInterval, "how often the driver looks for what is to go")
	flags.Float64Var(&s.Headroom, flagHeadroom, d.Headroom,
		"the part of the disk that is to be free, from 0 to 1: with less, data goes earlier")
	flags.Int64Var(&s.MaxVolumes, flagMaxVolumes, d.MaxVolumes,
		"how many scratch volumes pods of a node use at most (0: any number)")
	cmdutil.NoFlagValues(cmd, flagDriver, flagHeadroom, flagMaxVolumes)
}

func (s *Scratch) validate() error {
	invalid := func(format string, args ...any) error { return fault.New(fault.InvalidArgument, format, args...) }
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
	return all
}
