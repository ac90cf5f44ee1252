package serve

import (
	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/berthdev/berth/internal/fault"
)

// Machines are the options of a gateway about the machines that it serves.
type Machines struct {
	MachinePool, MachineNamespace     string
	TargetKubeconfig, TargetNamespace string
}

// The names of the flags.
const (
	flagMachinePool      = "machine-pool"
	flagMachineNamespace = "machine-namespace"
	flagTargetKubeconfig = "target-kubeconfig"
	flagTargetNamespace  = "target-namespace"
)

func (m *Machines) flags(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&m.MachinePool, flagMachinePool, "", "the pool whose machines are served (default: none)")
	flags.StringVar(&m.TargetKubeconfig, flagTargetKubeconfig, "",
		"the kubeconfig of the API server that has the machines")
	flags.StringVar(&m.TargetNamespace, flagTargetNamespace, "",
		"the namespace there of the machines of --machine-namespace (default: the one asked for)")
	flags.StringVar(&m.MachineNamespace, flagMachineNamespace, "",
		"with --target-namespace, the only namespace whose machines are served")
}

func (m *Machines) validate() error {
	invalid := func(format string, args ...any) error { return fault.New(fault.InvalidArgument, format, args...) }
	switch {
	case (m.MachinePool == "") != (m.TargetKubeconfig == ""):
		return invalid("--machine-pool and --target-kubeconfig are given together")
	case m.TargetNamespace != "" && m.MachinePool == "":
		return invalid("--target-namespace requires --machine-pool")
	case (m.TargetNamespace == "") != (m.MachineNamespace == ""):
		return invalid("--target-namespace and --machine-namespace require each other")
	case m.MachinePool != "" && len(validation.IsDNS1123Subdomain(m.MachinePool)) > 0:
		return invalid("--machine-pool must be the name of a machine pool, got %q", m.MachinePool)
	case m.TargetNamespace != "" && len(validation.IsDNS1123Label(m.TargetNamespace)) > 0:
		return invalid("--target-namespace must be the name of a namespace, got %q", m.TargetNamespace)
	case m.MachineNamespace != "" && len(validation.IsDNS1123Label(m.MachineNamespace)) > 0:
		return invalid("--machine-namespace must be the name of a namespace, got %q", m.MachineNamespace)
	}
	return nil
}

// arguments are those of a gateway that finds the kubeconfig in a file of its own.
func (m *Machines) arguments(kubeconfig string) []string {
	all := []string{"--" + flagMachinePool + "=" + m.MachinePool, "--" + flagTargetKubeconfig + "=" + kubeconfig}
	if m.TargetNamespace != "" {
		all = append(all, "--"+flagTargetNamespace+"="+m.TargetNamespace, "--"+flagMachineNamespace+"="+m.MachineNamespace)
	}
	return all
}
