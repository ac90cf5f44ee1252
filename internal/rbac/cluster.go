package rbac

// The permissions that only a ClusterRole can give.

func allNamespaces() Command {
	whole, why, without := []string{"get", "list", "watch"}, "a workspace in such a workload",
		"it is shown by its pods alone"
	return Command{
		Name: StatusOfAll, Cluster: true,
		About: "See the workspaces of all namespaces.",
		Rules: []Rule{
			{Resource: "pods", Verbs: []string{"list", "watch"}, Why: "the workspaces"},
			{Resource: "events", Verbs: []string{"list", "watch"}, Why: "what they wait for"},
			{
				Resource: "configmaps", Verbs: []string{"get", "list"},
				Why:     "their desired state, where no NATS keeps it",
				Without: "those that are stopped are not listed",
			},
			{
				Resource: "secrets", Verbs: []string{"list"}, Why: "those that are installed and have no pod",
				Without: "they are known by their storage alone",
			},
			{
				Resource: "persistentvolumeclaims", Verbs: []string{"list", "watch"},
				Why:     "whether the storages of those that wait are there; storage that is left, or kept",
				Without: "that is not said",
			},
			{Group: groupApps, Resource: "deployments", Verbs: whole, Why: why, Made: true, Without: without},
			{Group: groupApps, Resource: "statefulsets", Verbs: whole, Why: why, Made: true, Without: without},
			{Group: groupApps, Resource: "daemonsets", Verbs: whole, Why: why, Made: true, Without: without},
			{
				Group: groupApps, Resource: "replicasets", Verbs: []string{"list", "watch"}, Why: why, Made: true,
				Without: without,
			},
		},
	}
}

func deletionInAllNamespaces() Command {
	return Command{
		Name: DeleteOfAll, Cluster: true,
		About: "Find the workspaces of a user in all namespaces. Removing them then takes the Role of delete, in " +
			"each of the namespaces or as a ClusterRole.",
		Rules: []Rule{
			{Resource: "pods", Verbs: []string{"list"}, Why: "the workspaces"},
			{Resource: "events", Verbs: []string{"list"}, Why: "what they wait for"},
			{
				Resource: "configmaps", Verbs: []string{"list"},
				Why:     "those that are stopped, where no NATS keeps that",
				Without: "they are not found",
			},
			{
				Resource: "secrets", Verbs: []string{"list"}, Why: "those that are installed and have no pod",
				Without: "they are not found",
			},
		},
	}
}

func impersonation() Command {
	return Command{
		Name: Impersonation, Feature: true, Cluster: true,
		About: "Provision for another user. It takes the right to impersonate them; resourceNames can limit " +
			"it to some users.",
		Rules: []Rule{
			{
				Resource: "users", Verbs: []string{"impersonate"},
				Why: "berth checks the permission and does not impersonate",
			},
		},
	}
}

func namespaceCreation() Command {
	return Command{
		Name: CreateNamespace, Cluster: true,
		About: "Create the namespace if it does not exist. The objects in it take the Role of provision, " +
			"as a ClusterRole.",
		Rules: []Rule{
			{Resource: "namespaces", Verbs: []string{"get", "create"}, Why: "the namespace"},
			{
				Resource: "serviceaccounts", Verbs: []string{"get"}, Why: "whether pods can be created in it yet",
				Without: "that is not waited for",
			},
		},
	}
}

// awaitedNodes is a ClusterRole: nodes are in no namespace.
func awaitedNodes() Command {
	return Command{
		Name: AwaitedNodes, Feature: true, Cluster: true,
		About: "Read the node that a pod waits on, when nothing else says why. Commands that show or follow a pod do " +
			"so, in addition to their Roles.",
		Rules: []Rule{
			{
				Resource: "nodes", Verbs: []string{"get"}, Why: "since when the node of a pod is not ready, and why",
				Without: "the node is named, and that it could not be read",
			},
		},
	}
}

func checkup() Command {
	skipped := "the check is skipped"
	return Command{
		Name: "doctor", Cluster: true,
		About: "Check the cluster. Every check that the caller may not make is skipped.",
		Rules: []Rule{
			{
				Resource: "namespaces", Verbs: []string{"get"}, Why: "whether it exists, and its pod security level",
				Without: skipped,
			},
			{
				Resource: "nodes", Verbs: []string{"list"}, Why: "whether they are ready, and of which architecture",
				Without: skipped,
			},
			{
				Group: groupStorage, Resource: "storageclasses", Verbs: []string{"list"},
				Why:     "where volumes come from",
				Without: skipped,
			},
			{
				Group: groupStorage, Resource: "csidrivers", Verbs: []string{"get"},
				Why: "whether there is a driver for scratch storages", Without: skipped,
			},
			{
				Group: groupStorage, Resource: "csinodes", Verbs: []string{"list"}, Why: "on how many nodes it is",
				Without: "that is not said",
			},
			{Resource: "resourcequotas", Verbs: []string{"list"}, Why: "what is left of them", Without: skipped},
			{Resource: "limitranges", Verbs: []string{"list"}, Why: "what a workspace may ask for", Without: skipped},
			{
				Resource: "configmaps", Verbs: []string{"list"},
				Why:     "records of jobs that have expired, or wait for NATS",
				Without: skipped,
			},
			{
				Group: groupApps, Resource: "daemonsets", Verbs: []string{"list"},
				Why: "whether a network plugin runs that enforces network policies", Without: skipped,
			},
			{
				Resource: "secrets", Verbs: []string{"list"}, Why: "workspaces that are partly installed",
				Without: skipped,
			},
			{
				Group: groupCoordination, Resource: "leases", Verbs: []string{"list"},
				Why:     "locks that are not held any more",
				Without: skipped,
			},
		},
	}
}

// The permissions for what the configuration names in another namespace.

func jobsInNATS() Command {
	return Command{
		Name: JobsInNATS, Feature: true,
		About: "Reach a Service of NATS through the API server (`jobs.nats.service`), for provision, jobs and status " +
			"--history: a Role in the namespace of NATS.",
		Rules: []Rule{
			{Resource: "services", Verbs: []string{"get"}, Why: "where NATS is"},
			{Resource: "pods", Verbs: []string{"list"}, Why: "which of its pods is ready"},
			{Resource: "pods/portforward", Verbs: []string{"create"}, Why: "the connection"},
			{
				Resource: "pods/portforward", Verbs: []string{"get"}, Why: "the same over WebSockets",
				Without: "SPDY is used",
			},
		},
	}
}

func configMaps() Command {
	return Command{
		Name: ConfigMapsOfPlatform, Feature: true,
		About: "Read blueprints (`blueprintConfigMaps`) and users (`identity.providers` of kind configmap): a Role " +
			"in the namespace of the ConfigMaps. resourceNames can limit it to them.",
		Rules: []Rule{
			{Resource: "configmaps", Verbs: []string{"get"}, Why: "those that the configuration names"},
		},
	}
}
