package rbac

import (
	"github.com/berthdev/berth/internal/kube"
	"github.com/berthdev/berth/internal/volume"
)

// The permissions to enter machines (`berth exec machine/NAME`).

// The names of the ways into a machine.
const (
	Machine         = "exec machine"
	MachineDirectly = "exec machine --direct"
	PoolsOfMachines = "exec machine --direct, in the whole cluster"
)

const groupMachines = "compute.ironcore.dev"

// Machines are the permissions to enter machines. They are not part of the Role for all commands: few clusters have
// machines.
func Machines() []Command { return []Command{machine(), machineDirectly(), poolsOfMachines()} }

func machine() Command {
	return Command{
		Name:  Machine,
		About: "Enter a machine (`berth exec machine/NAME`) through the API server.",
		Rules: []Rule{
			{Group: groupMachines, Resource: "machines/exec", Verbs: []string{"create"}, Why: "its console"},
			{
				Group: groupMachines, Resource: "machines/exec", Verbs: []string{"get"},
				Why:     "the same over WebSockets",
				Without: "SPDY is used",
			},
			{
				Group: groupMachines, Resource: "machines", Verbs: []string{"list"}, Why: "completion of its name",
				Without: "names are not completed",
			},
		},
	}
}

func machineDirectly() Command {
	return Command{
		Name: MachineDirectly,
		About: "Enter a machine at the poollet of its pool (`berth exec machine/NAME --direct`). The next " +
			"ClusterRole and that of the machines of a pool are required as well.",
		Rules: []Rule{
			{Group: groupMachines, Resource: "machines", Verbs: []string{"get"}, Why: "its pool"},
			{
				Group: groupMachines, Resource: "machines", Verbs: []string{"list"}, Why: "completion of its name",
				Without: "names are not completed",
			},
		},
	}
}

func poolsOfMachines() Command {
	return Command{
		Name: PoolsOfMachines, Feature: true, Cluster: true,
		About: "Find the poollet of a machine's pool. It takes another ClusterRole to be let in there: that of the " +
			"machines of a pool, below.",
		Rules: []Rule{
			{Group: groupMachines, Resource: "machinepools", Verbs: []string{"get"}, Why: "the address of the poollet"},
		},
	}
}

// The permissions for scratch storages.

// The names of what is done with scratch storages.
const (
	ScratchStorages = "scratch storages"
	VolumeList      = "volume list"
	VolumeRestore   = "volume restore"
	VolumePurge     = "volume purge"
	VolumeRead      = "volume list, read and cp"
)

// ScratchVolumeReader is the ClusterRole of those who read what the pods of a namespace have left, as `berth serve
// manifests volumes --read` prints it.
const ScratchVolumeReader = "scratch-volume-reader"

// Volumes are the permissions for scratch storages. They are not part of the Role for all commands: few clusters have
// the driver, and what it keeps is for administrators.
func Volumes() []Command {
	return []Command{scratchStorages(), volumeList(), volumeRestore(), volumePurge(), volumeRead()}
}

func scratchStorages() Command {
	return Command{
		Name: ScratchStorages, Feature: true, Cluster: true,
		About: "Provision, start, restart and roll back workspaces that have storages of type scratch, in addition " +
			"to the Roles for these.",
		Rules: []Rule{
			{
				Group: groupStorage, Resource: "csidrivers", Verbs: []string{"get"},
				Why:     "whether the cluster has the driver",
				Without: "that it is missing is only seen when the pod does not start",
			},
		},
	}
}

// driverPods are the permissions to ask the driver's pods. Anyone who has them reads and removes what the pods of all
// namespaces have left.
func driverPods() []Rule {
	return []Rule{
		{Resource: "pods", Verbs: []string{"list"}, Why: "the driver's pods, one on each node"},
		{Resource: "pods/exec", Verbs: []string{"create"}, Why: "the question to each of them"},
		{Resource: "pods/exec", Verbs: []string{"get"}, Why: "the same over WebSockets", Without: "SPDY is used"},
	}
}

func volumeList() Command {
	return Command{
		Name: VolumeList, Namespace: volume.Namespace,
		About: "List the scratch volumes whose pods are deleted. This allows exec into the driver's pods, which run " +
			"as root and have the data of all namespaces: anyone who has this Role can read and remove all of it. " +
			"Give it to administrators of the cluster only.",
		Rules: driverPods(),
	}
}

func volumeRestore() Command {
	return Command{
		Name: VolumeRestore, Namespace: volume.Namespace,
		About: "Get the files of such a volume, as for `berth volume list`. Into a workspace (`--into`) it takes the " +
			"Role for cp in its namespace, too.",
		Rules: driverPods(),
	}
}

func volumePurge() Command {
	return Command{
		Name: VolumePurge, Namespace: volume.Namespace,
		About: "Remove such volumes before their time, as for `berth volume list`.",
		Rules: driverPods(),
	}
}

func volumeRead() Command {
	return Command{
		Name: VolumeRead, Feature: true,
		About: "List and read what the pods of a namespace have left on scratch volumes, at the drivers themselves " +
			"(`--read-url`), as the ClusterRole " + ScratchVolumeReader + " does that `berth serve manifests volumes " +
			"--read` prints. It takes no permission on pods. resourceNames can limit it to some workspaces, by their " +
			"canonical IDs, and to some pods, by their names: list takes `--of` then.",
		Rules: []Rule{
			{
				Group: kube.Group, Resource: "scratchvolumes", Verbs: []string{"list"},
				Why:     "which there are",
				Without: "a volume has to be named by its whole ID",
			},
			{
				Group: kube.Group, Resource: "scratchvolumes", Verbs: []string{"get"},
				Why: "what the drivers ask the API server about",
			},
		},
	}
}
