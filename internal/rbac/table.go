package rbac

import "slices"

// The names of commands that other packages use.
const (
	Provision = "provision"
	Inject    = "provision into a workload"
	Delete    = "delete"
	Stop      = "stop"

	Impersonation   = "acting for another user"
	CreateNamespace = "provision --create-namespace"
	StatusOfAll     = "status --all-namespaces"
	DeleteOfAll     = "delete --owner --all-namespaces"
	AwaitedNodes    = "nodes that pods wait on"

	JobsInNATS           = "records of jobs in NATS"
	ConfigMapsOfPlatform = "blueprints and users from ConfigMaps"
)

// The groups of the API that berth uses.
const (
	groupCore         = ""
	groupApps         = "apps"
	groupBatch        = "batch"
	groupCoordination = "coordination.k8s.io"
	groupNetworking   = "networking.k8s.io"
	groupCertificates = "cert-manager.io"
	groupStorage      = "storage.k8s.io"
	groupExtensions   = "apiextensions.k8s.io"
)

// Commands is the table: all commands that need permissions, in the order of the documentation.
func Commands() []Command {
	return []Command{
		provision(), inject(), stop(), status(), exec(), ssh(), cp(), portForward(), logs(), diagnosis(), deletion(),
		jobs(),
		allNamespaces(), deletionInAllNamespaces(), impersonation(), namespaceCreation(), awaitedNodes(), checkup(),
	}
}

// Elsewhere are the additional permissions that are needed if the configuration names something outside of the
// workspaces' namespace.
func Elsewhere() []Command { return []Command{jobsInNATS(), configMaps()} }

// Named is one command of the table; the zero value if there is none of that name.
func Named(name string) Command {
	for _, c := range slices.Concat(Commands(), Elsewhere(), Machines(), Bundles(), Volumes(), Serving()) {
		if c.Name == name {
			return c
		}
	}
	return Command{}
}

// markedClaims is the permission to say which run uses a claim that was there before.
func markedClaims() Rule {
	return Rule{
		Resource: "persistentvolumeclaims", Verbs: []string{"patch"},
		Why: "a claim that was there is marked as in use, against a deletion that has lost its lock; storage " +
			"grows with an update", Made: true,
		Without: "it is used unmarked; one that was kept cannot be used, and none can grow",
	}
}

func expiredRecords() Rule {
	return Rule{
		Resource: "configmaps", Verbs: []string{"deletecollection"}, Why: "records of jobs that have expired",
		Without: "they stay until the next command of a user who may delete them",
	}
}

// countedRecords is the permission to count the workspaces that are stopped.
func countedRecords() Rule {
	return Rule{
		Resource: "configmaps", Verbs: []string{"list"},
		Why:     "how many workspaces there are, if the configuration limits that and no NATS keeps it",
		Without: "with such a limit no workspace is created",
	}
}

func logLines() Rule {
	return Rule{
		Resource: "pods/log", Verbs: []string{"get"}, Why: "the last lines of a container that failed",
		Without: "the failure is reported without them",
	}
}

// scriptLines is the permission to see what init scripts do.
func scriptLines() Rule {
	return Rule{
		Resource: "pods/log", Verbs: []string{"get"}, Why: "what its init scripts do, if it has any",
		Without: "a warning says that this cannot be read; where a script that fails is a failure, so is this",
	}
}

// injected are the permissions to find a workspace in a workload.
func injected() []Rule {
	get, why := []string{"get"}, "a workspace in such a workload"
	return []Rule{
		{Group: groupApps, Resource: "deployments", Verbs: get, Why: why, Made: true},
		{Group: groupApps, Resource: "statefulsets", Verbs: get, Why: why, Made: true},
		{Group: groupApps, Resource: "daemonsets", Verbs: get, Why: why, Made: true},
		{
			Group: groupApps, Resource: "replicasets", Verbs: []string{"list"},
			Why: "which of a Deployment's pods are the newest", Made: true,
		},
	}
}

// followed are the permissions to follow the rollouts of workloads that have a workspace.
func followed() []Rule {
	verbs, why, without := []string{"list", "watch"}, "a workspace in such a workload, with --watch",
		"it is shown by its pods alone"
	return []Rule{
		{Group: groupApps, Resource: "deployments", Verbs: verbs, Why: why, Made: true, Without: without},
		{Group: groupApps, Resource: "statefulsets", Verbs: verbs, Why: why, Made: true, Without: without},
		{Group: groupApps, Resource: "daemonsets", Verbs: verbs, Why: why, Made: true, Without: without},
		{Group: groupApps, Resource: "replicasets", Verbs: []string{"watch"}, Why: why, Made: true, Without: without},
	}
}

// record is the permission to find a workspace without a pod.
func record() Rule {
	return Rule{
		Resource: "secrets", Verbs: []string{"list"}, Why: "workspaces that are installed and have no pod",
		Without: "such a workspace is not found",
	}
}

// awaited are the permissions to wait for a workspace that does not run yet.
func awaited() []Rule {
	watch, why, without := []string{"watch"}, "when a workspace that is not running yet can be entered",
		"such a workspace is refused"
	return []Rule{
		{Resource: "pods", Verbs: watch, Why: why, Without: without},
		{Resource: "events", Verbs: watch, Why: "what such a workspace waits for", Without: without},
		{
			Resource: "persistentvolumeclaims", Verbs: watch, Why: "whether the storages of such a workspace are there",
			Made: true, Without: without,
		},
		{
			Resource: "pods/log", Verbs: []string{"get"}, Why: "what the init scripts of such a workspace do",
			Without: "a warning says that this cannot be read",
		},
		{Group: groupApps, Resource: "deployments", Verbs: watch, Why: why, Made: true, Without: without},
		{Group: groupApps, Resource: "statefulsets", Verbs: watch, Why: why, Made: true, Without: without},
		{Group: groupApps, Resource: "daemonsets", Verbs: watch, Why: why, Made: true, Without: without},
		{Group: groupApps, Resource: "replicasets", Verbs: watch, Why: why, Made: true, Without: without},
	}
}

// recorded is why ConfigMaps are read and written that say the desired state of workspaces.
const recorded = "the desired state of the workspace, where no NATS keeps it"
