package rbac

import "github.com/berthdev/berth/internal/kube"

// The permissions of what runs in the cluster (`berth serve`).

// The names of what is served.
const (
	ServeBundles            = "serve bundles"
	ServeBundlesInSystem    = "serve bundles, in the system namespace"
	ServeBundlesAsInstaller = "serve bundles, as installers"
	ServeGateway            = "serve gateway"
	ServeWorkspaces         = "serve workspaces"
	ServeWorkspacesInSystem = "serve workspaces, in the system namespace"
	ServeWorkspacesGuard    = "serve workspaces, what guards records"
	ServeGatewayMachines    = "machines of a gateway"
	ServeGatewayPool        = "serve gateway, for the machines of a pool"
	ServeVolumesReading     = "serve volumes, for those who read"
	EnterByGateway          = "enter through a gateway"
	EnterMachineByPool      = "machines of a pool, through its gateway"
)

const (
	groupBundles        = "core.rukpak.io"
	groupAuthentication = "authentication.k8s.io"
	groupAuthorization  = "authorization.k8s.io"
	groupAdmission      = "admissionregistration.k8s.io"
)

// WorkspaceUser is the ClusterRole of those who enter workspaces through a gateway, as `berth serve manifests gateway`
// prints it.
const WorkspaceUser = "workspace-user"

// PoolHint is what to ask for who may not enter the machines of a pool.
func PoolHint() string {
	return "ask for the ClusterRole " + MachinePoolUser("NAME") +
		" of its pool, or for verbs get and create on machinepools/proxy of the group " + groupMachines
}

// MachinePoolUser is the ClusterRole of those who enter the machines of a pool through its gateway, as `berth serve
// manifests gateway --machine-pool` prints it.
func MachinePoolUser(pool string) string { return "machine-pool-" + pool + "-user" }

// Serving are the permissions of servers. What a bundle installs is not among them: that depends on the bundles, and an
// administrator chooses it.
func Serving() []Command {
	return []Command{
		serveBundles(), serveBundlesInSystem(), serveBundlesAsInstaller(), serveGateway(), serveGatewayPool(),
		serveGatewayReport(), serveGatewayLease(), serveGatewayMachines(), enterByGateway(), enterMachineByPool(),
		serveWorkspaces(), serveWorkspacesInSystem(), serveWorkspacesGuard(),
		serveVolumesReading(),
	}
}

func serveBundles() Command {
	return Command{
		Name: ServeBundles, Cluster: true,
		About: "Reconcile bundles and bundle instances, and serve content to those who may read it. What instances " +
			"install takes another ClusterRole, which `berth serve manifests --install-role` binds to another " +
			"ServiceAccount, the installer: nothing is installed without it.",
		Rules: []Rule{
			{
				Group: groupBundles, Resource: "bundles", Verbs: []string{"get", "list", "watch", "create", "delete"},
				Why: "the bundles of instances are created and cleaned up",
			},
			{Group: groupBundles, Resource: "bundles/status", Verbs: []string{"update"}, Why: "what became of them"},
			{
				Group: groupBundles, Resource: "bundleinstances", Verbs: []string{"get", "list", "watch"},
				Why: "what is wanted",
			},
			{
				Group: groupBundles, Resource: "bundleinstances/status", Verbs: []string{"update"},
				Why: "what became of it",
			},
			{
				Group: groupAdmission, Resource: "validatingadmissionpolicies", Verbs: []string{"get"},
				Why:     "whether authors of instances are asked for their rights",
				Without: "no instance is installed that names a ServiceAccount",
			},
			{
				Group: groupAdmission, Resource: "validatingadmissionpolicybindings", Verbs: []string{"get"},
				Why:     "whether authors of instances are asked for their rights",
				Without: "no instance is installed that names a ServiceAccount",
			},
			{
				Group: groupAuthentication, Resource: "tokenreviews", Verbs: []string{"create"},
				Why: "who asks for content",
			},
			{
				Group: groupAuthorization, Resource: "subjectaccessreviews", Verbs: []string{"create"},
				Why: "whether they may read it",
			},
		},
	}
}

func serveBundlesInSystem() Command {
	return Command{
		Name: ServeBundlesInSystem, Feature: true, System: true,
		About: "What the server of bundles keeps in its namespace, and reads there.",
		Rules: []Rule{
			{
				Resource: "secrets", Verbs: []string{"get", "list", "create", "update", "delete"},
				Why: "Helm's records; logins of sources",
			},
			{Resource: "configmaps", Verbs: []string{"get"}, Why: "sources, and chunks of uploads"},
			{
				Group: groupCoordination, Resource: "leases", Verbs: []string{"get", "create", "update", "delete"},
				Why: "one of several servers works; locks",
			},
		},
	}
}

func serveBundlesAsInstaller() Command {
	return Command{
		Name: ServeBundlesAsInstaller, Feature: true, System: true,
		About: "Act as the ServiceAccounts that instances are installed as: a Role in the namespace of each, which " +
			"`berth serve manifests bundles` prints with resourceNames. An author of an instance that names one " +
			"needs the same for that one.",
		Rules: []Rule{
			{
				Resource: "serviceaccounts", Verbs: []string{"impersonate"},
				Why: "what bundles contain is looked up, applied, watched and removed with the rights of these alone",
			},
		},
	}
}

func serveGateway() Command {
	return Command{
		Name: ServeGateway, Cluster: true,
		About: "Let users into workspaces. The gateway enters any pod that a workspace has, for those who may; a " +
			"RoleBinding to this ClusterRole in some namespaces instead of a ClusterRoleBinding limits it to them " +
			"(the reviews then take a ClusterRole of their own).",
		Rules: []Rule{
			{Resource: "pods", Verbs: []string{"list"}, Why: "the pod of a workspace"},
			{Resource: "pods/exec", Verbs: []string{"get", "create"}, Why: "the session"},
			{Group: groupAuthentication, Resource: "tokenreviews", Verbs: []string{"create"}, Why: "who asks"},
			{
				Group: groupAuthorization, Resource: "subjectaccessreviews", Verbs: []string{"create"},
				Why: "whether they may",
			},
		},
	}
}

func serveGatewayPool() Command {
	return Command{
		Name: ServeGatewayPool, Feature: true, Cluster: true,
		About: "Find out which machine of a pool is meant (`berth serve gateway --machine-pool`), in the cluster " +
			"that the gateway asks who its callers are.",
		Rules: []Rule{
			{
				Group: groupMachines, Resource: "machines", Verbs: []string{"get"},
				Why: "whether it is in the pool, and what it is called where it runs",
			},
		},
	}
}

func serveGatewayMachines() Command {
	return Command{
		Name: ServeGatewayMachines, Feature: true,
		About: "Connect to the consoles of machines. Grant it on the API server that has the machines, in their " +
			"namespace, to the user of `--target-kubeconfig`.",
		Rules: []Rule{
			{
				Group: groupMachines, Resource: "machines", Verbs: []string{"get"},
				Why: "whether it is the one that is meant",
			},
			{Group: groupMachines, Resource: "machines/exec", Verbs: []string{"get", "create"}, Why: "its console"},
		},
	}
}

func enterByGateway() Command {
	return Command{
		Name: EnterByGateway, Feature: true,
		About: "Enter workspaces through a gateway (`berth exec --gateway`, `berth cp --gateway`), as the " +
			"ClusterRole " + WorkspaceUser + " does that `berth serve manifests gateway` prints. It takes no " +
			"permission on pods; resourceNames can limit it to some workspaces, by their canonical IDs.",
		Rules: []Rule{
			{
				Group: kube.Group, Resource: "workspaces/exec", Verbs: []string{"create"},
				Why: "what the gateway asks the API server about",
			},
		},
	}
}

func enterMachineByPool() Command {
	return Command{
		Name: EnterMachineByPool, Feature: true, Cluster: true,
		About: "Enter the machines of a pool through the gateway that serves it: all of them. The API server of " +
			"machines needs it, and everybody who connects to the gateway directly. `berth serve manifests gateway " +
			"--machine-pool NAME` prints the ClusterRole " + MachinePoolUser("NAME") + ", which is limited to that " +
			"pool by resourceNames.",
		Rules: []Rule{
			{
				Group: groupMachines, Resource: "machinepools/proxy", Verbs: []string{"get", "create"},
				Why: "what the gateway asks the API server about: get over WebSockets, create over SPDY",
			},
		},
	}
}

func serveWorkspaces() Command {
	whole := []string{"create", "get", "patch", "delete"}
	workload := []string{"get", "list", "watch", "patch"}
	return Command{
		Name: ServeWorkspaces, Cluster: true,
		About: "Start, stop and delete workspaces in all namespaces as their recorded desired state says. A " +
			"RoleBinding to this ClusterRole in one namespace is enough with `--only`.",
		Rules: []Rule{
			{
				Resource: "pods", Verbs: []string{"list", "watch", "create", "get", "patch", "delete"},
				Why: "the workspaces",
			},
			{Resource: "events", Verbs: []string{"list", "watch"}, Why: "what the cluster says about them"},
			{
				Group: groupCoordination, Resource: "leases", Verbs: []string{"create", "get", "update", "delete"},
				Why: "the locks, against commands at the same time",
			},
			{
				Resource: "secrets", Verbs: []string{"list", "create", "update", "delete"},
				Why: "Helm's records of the releases",
			},
			{
				Resource: "secrets", Verbs: []string{"get", "patch"},
				Why: "credentials of private registries and repositories, which are deleted with a workspace",
			},
			{
				Resource: "configmaps", Verbs: append([]string{"list", "watch"}, whole...),
				Why: "the desired state of workspaces, and the jobs of their starts, where no NATS keeps that; their " +
					"scripts and identities",
			},
			{Resource: "services", Verbs: whole, Why: "their addresses"},
			{
				Resource: "persistentvolumeclaims", Verbs: append([]string{"list", "watch"}, whole...),
				Why: "their storages",
			},
			{Group: groupNetworking, Resource: "networkpolicies", Verbs: whole, Why: "their network policies"},
			{Group: groupCertificates, Resource: "certificates", Verbs: whole, Why: "their certificates"},
			{
				Group: groupApps, Resource: "deployments", Verbs: workload,
				Why: "the workloads that some are injected into",
			},
			{
				Group: groupApps, Resource: "statefulsets", Verbs: workload,
				Why: "the workloads that some are injected into",
			},
			{
				Group: groupApps, Resource: "daemonsets", Verbs: workload,
				Why: "the workloads that some are injected into",
			},
			{Group: groupApps, Resource: "replicasets", Verbs: []string{"list", "watch"}, Why: "how far a rollout is"},
		},
	}
}

func serveWorkspacesInSystem() Command {
	return Command{
		Name: ServeWorkspacesInSystem, Feature: true, System: true,
		About: "One of several servers of workspaces works.",
		Rules: []Rule{
			{
				Group: groupCoordination, Resource: "leases", Verbs: []string{"get", "create", "update"},
				Why: "who that is",
			},
		},
	}
}

// serveWorkspacesGuard is a ClusterRole: policies are in no namespace.
func serveWorkspacesGuard() Command {
	return Command{
		Name: ServeWorkspacesGuard, Feature: true, Cluster: true,
		About: "See whether the cluster admits records of workspaces only from those who could do themselves what " +
			"they record: nothing is done otherwise, unless with `--trust-records`. `berth reconcile` takes it, too. " +
			"resourceNames can limit it to berth-workspaces-records.",
		Rules: []Rule{
			{
				Group: groupAdmission, Resource: "validatingadmissionpolicies", Verbs: []string{"get"},
				Why: "whether the policy is there, and as this version has it",
			},
			{
				Group: groupAdmission, Resource: "validatingadmissionpolicybindings", Verbs: []string{"get"},
				Why: "whether it holds everywhere",
			},
		},
	}
}

func serveVolumesReading() Command {
	return Command{
		Name: ServeVolumesReading, Feature: true, Cluster: true,
		About: "Ask the API server who reads scratch volumes and whether they may (`berth serve volumes " +
			"--read-listen`). Without that, the drivers take no permission.",
		Rules: []Rule{
			{Group: groupAuthentication, Resource: "tokenreviews", Verbs: []string{"create"}, Why: "who asks"},
			{
				Group: groupAuthorization, Resource: "subjectaccessreviews", Verbs: []string{"create"},
				Why: "whether they may",
			},
		},
	}
}
