package rbac

// The permissions to enter machines (`berth exec machine/NAME`).

// The names of the ways into a machine.
const (
	Machine         = "exec machine"
	MachineDirectly = "exec machine --direct"
	PoolsOfMachines = "exec machine --direct, in the whole cluster"
)

const groupMachines = "compute.ironcore.dev"

// Machines are the permissions to enter machines. They are not part of the Role for all
// commands: few clusters have machines.
func Machines() []Command { return []Command{machine(), machineDirectly(), poolsOfMachines()} }

func machine() Command {
	return Command{
		Name:  Machine,
		About: "Enter a machine (`berth exec machine/NAME`) through the API server.",
		Rules: []Rule{
			{Group: groupMachines, Resource: "machines/exec", Verbs: []string{"create"}, Why: "its console"},
			{
				Group: groupMachines, Resource: "machines/exec", Verbs: []string{"get"}, Why: "the same over WebSockets",
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
		Name:  MachineDirectly,
		About: "Enter a machine at the poollet of its pool (`berth exec machine/NAME --direct`). The next ClusterRole and that of the machines of a pool are required as well.",
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
		About: "Find the poollet of a machine's pool. It takes another ClusterRole to be let in there: that of the machines of a pool, below.",
		Rules: []Rule{
			{Group: groupMachines, Resource: "machinepools", Verbs: []string{"get"}, Why: "the address of the poollet"},
		},
	}
}
