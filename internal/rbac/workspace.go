package rbac

func provision() Command {
	whole := []string{"create", "get", "patch", "delete"}
	return Command{
		Name: Provision,
		About: "Bring up, start and update workspaces and follow them. Running it again completes what an " +
			"interrupted run has left, so it may also read, change and replace what it creates.",
		Rules: []Rule{
			{
				Resource: "pods", Verbs: []string{"list", "watch", "create", "get", "delete"},
				Why: "the workspace; a failed one is replaced",
			},
			{
				Resource: "events", Verbs: []string{"list", "watch"},
				Why: "what the cluster says about it: pulls, failures, what it waits for",
			},
			{
				Group: groupCoordination, Resource: "leases", Verbs: []string{"create", "get", "update", "delete"},
				Why: "the lock, against two runs at once",
			},
			{Resource: "secrets", Verbs: []string{"list", "create", "update"}, Why: "Helm's record of the release"},
			{
				Resource: "secrets", Verbs: []string{"get", "patch"},
				Why: "credentials of a private registry or repository, if they are configured", Made: true,
			},
			{
				Resource: "secrets", Verbs: []string{"delete"},
				Why:     "Helm's record, with --on-failure delete; records of revisions that are long gone",
				Without: "--on-failure delete keeps the record and says so; those of revisions stay",
			},
			{
				Resource: "configmaps", Verbs: whole,
				Why: "scripts and identity of the workspace; the record of the job, where no NATS keeps it", Made: true,
			},
			expiredRecords(),
			countedRecords(),
			{Resource: "services", Verbs: whole, Why: "the address of its agent, if it has one", Made: true},
			{
				Resource: "persistentvolumeclaims", Verbs: []string{"create", "get", "list", "watch"},
				Why: "its storages, if it has any", Made: true,
			},
			markedClaims(),
			{
				Resource: "persistentvolumeclaims", Verbs: []string{"delete"},
				Why: "its storages, with --on-failure delete; one that never had a volume is made again as " +
					"its blueprint says",
				Without: "--on-failure delete keeps them and says so; such a one stays as it is",
			},
			{
				Group: groupNetworking, Resource: "networkpolicies", Verbs: whole,
				Why: "its network policies, if they are configured", Made: true,
			},
			{
				Group: groupCertificates, Resource: "certificates", Verbs: whole,
				Why:  "its certificate, if that is configured",
				Made: true,
			},
			logLines(),
			scriptLines(),
		},
	}
}

func inject() Command {
	workload := []string{"get", "list", "watch", "patch"}
	whole := []string{"create", "get", "list", "patch", "delete"}
	return Command{
		Name: Inject,
		About: "Put workspaces into Deployments, StatefulSets and DaemonSets, update them there, and take them out " +
			"again (`berth delete`). Leave out the kinds that you do not inject into.",
		Rules: []Rule{
			{Group: groupApps, Resource: "deployments", Verbs: workload, Why: "the workload", Made: true},
			{Group: groupApps, Resource: "statefulsets", Verbs: workload, Why: "the workload", Made: true},
			{Group: groupApps, Resource: "daemonsets", Verbs: workload, Why: "the workload", Made: true},
			{
				Group: groupApps, Resource: "replicasets", Verbs: []string{"list", "watch"},
				Why: "how far a Deployment's rollout is", Made: true,
			},
			{
				Resource: "pods", Verbs: []string{"list", "watch", "delete"},
				Why: "the pods; of a StatefulSet, those that block the rollout",
			},
			{Resource: "events", Verbs: []string{"list", "watch"}, Why: "what the cluster says about them"},
			{
				Group: groupCoordination, Resource: "leases", Verbs: []string{"create", "get", "update", "delete"},
				Why: "the lock, against two runs at once",
			},
			{
				Resource: "configmaps", Verbs: whole,
				Why: "scripts and identity of the workspace; the record of the job, where no NATS keeps it",
			},
			expiredRecords(),
			{
				Resource: "persistentvolumeclaims", Verbs: []string{"create", "get", "list", "watch", "delete"},
				Why: "its storages, if it has any",
			},
			markedClaims(),
			logLines(),
			scriptLines(),
		},
	}
}

func stop() Command {
	return Command{
		Name: Stop,
		About: "Stop workspaces. To start and restart them takes the Role for provision; those in workloads take " +
			"that for workloads instead.",
		Rules: []Rule{
			{
				Resource: "pods", Verbs: []string{"list", "watch", "patch", "delete"},
				Why: "the workspace, which is marked as stopped, until it is gone",
			},
			{Resource: "events", Verbs: []string{"list", "watch"}, Why: "what the cluster says about its end"},
			{
				Group: groupCoordination, Resource: "leases", Verbs: []string{"create", "get", "update", "delete"},
				Why: "the lock, against two runs at once",
			},
			{Resource: "secrets", Verbs: []string{"list"}, Why: "Helm's record of the release"},
			{Resource: "configmaps", Verbs: []string{"get", "create", "patch"}, Why: recorded},
			expiredRecords(),
		},
	}
}

func deletion() Command {
	remove := []string{"get", "delete"}
	return Command{
		Name: Delete,
		About: "Remove workspaces and everything that belongs to them. Anyone who has the Role for exec as well is " +
			"shown, when asked to confirm, how much of the storage is used.",
		Rules: []Rule{
			{Resource: "pods", Verbs: []string{"list", "watch", "delete"}, Why: "the workspace, until it is gone"},
			{Resource: "events", Verbs: []string{"list", "watch"}, Why: "what the cluster says about its end"},
			{
				Group: groupCoordination, Resource: "leases", Verbs: []string{"create", "get", "update", "delete"},
				Why: "the lock, against a provisioning at the same time",
			},
			{Resource: "secrets", Verbs: []string{"list", "delete"}, Why: "Helm's record of the release"},
			{Resource: "configmaps", Verbs: remove, Why: "its scripts and identity", Made: true},
			{
				Resource: "configmaps", Verbs: []string{"patch"}, Why: recorded,
				Without: "a deletion that is interrupted is not completed by others",
			},
			expiredRecords(),
			{Resource: "services", Verbs: remove, Why: "the address of its agent", Made: true},
			{Resource: "persistentvolumeclaims", Verbs: remove, Why: "its storages", Made: true},
			{
				Group: groupNetworking, Resource: "networkpolicies", Verbs: remove, Why: "its network policies",
				Made: true,
			},
			{Group: groupCertificates, Resource: "certificates", Verbs: remove, Why: "its certificate", Made: true},
			{
				Resource: "persistentvolumeclaims", Verbs: []string{"list"},
				Why:     "its storages, if Helm's record cannot be read; those that were kept",
				Without: "those that its pod does not name are kept, and named as not looked for",
			},
			{
				Resource: "persistentvolumeclaims", Verbs: []string{"patch"},
				Why: "storages that are kept are marked, with --keep-storage", Made: true,
				Without: "--keep-storage is refused",
			},
			{
				Group: groupNetworking, Resource: "networkpolicies", Verbs: []string{"list"},
				Why: "the same for its network policies", Without: "the same",
			},
			{
				Group: groupCertificates, Resource: "certificates", Verbs: []string{"list"},
				Why:     "the same for its certificate",
				Without: "the same",
			},
			{Resource: "secrets", Verbs: []string{"get"}, Why: "that of its certificate", Made: true},
		},
	}
}

func status() Command {
	return Command{
		Name:  "status",
		About: "See the workspaces of a namespace, and with --watch their changes. Completion of names takes it, too.",
		Rules: append([]Rule{
			{Resource: "pods", Verbs: []string{"list", "watch"}, Why: "the workspaces"},
			{Resource: "events", Verbs: []string{"list", "watch"}, Why: "what they wait for"},
			{
				Resource: "persistentvolumeclaims", Verbs: []string{"get", "list", "watch"},
				Why: "whether their storages are there; storage that is left, or kept",
			},
			{
				Resource: "configmaps", Verbs: []string{"get", "list"},
				Why:     "their desired state, where no NATS keeps it",
				Without: "those that are stopped are not listed",
			},
			{
				Resource: "pods/log", Verbs: []string{"get"}, Why: "what the init scripts of one have done",
				Without: "it says that this cannot be read",
			},
			{
				Resource: "secrets", Verbs: []string{"list"}, Why: "workspaces that are installed and have no pod",
				Without: "they are known by their storage alone, and not found by name",
			},
		}, append(injected(), followed()...)...),
	}
}

func exec() Command {
	return Command{
		Name: "exec",
		About: "Enter a workspace, also one that does not run yet. With --provision it takes the Role " +
			"for provision, too.",
		Rules: append([]Rule{
			{Resource: "pods", Verbs: []string{"list", "get"}, Why: "the workspace"},
			{Resource: "pods/exec", Verbs: []string{"create"}, Why: "the command in it"},
			{Resource: "pods/exec", Verbs: []string{"get"}, Why: "the same over WebSockets", Without: "SPDY is used"},
			{
				Resource: "configmaps", Verbs: []string{"get"}, Why: recorded,
				Without: "a stopped one is not told from one whose pod is gone",
			},
			record(),
		}, append(injected(), awaited()...)...),
	}
}

func ssh() Command {
	return Command{
		Name: "ssh",
		About: "Enter a workspace with an SSH client or an editor, also by open. With ssh config --start it takes " +
			"the Role for start, too.",
		Rules: append([]Rule{
			{Resource: "pods", Verbs: []string{"list", "get"}, Why: "the workspace"},
			{
				Resource: "pods", Verbs: []string{"watch"}, Why: "where the workspace is, for the next command",
				Without: "each command asks for that",
			},
			{
				Resource: "pods/exec", Verbs: []string{"create"},
				Why: "commands, files, and addresses beyond the workspace",
			},
			{Resource: "pods/exec", Verbs: []string{"get"}, Why: "the same over WebSockets", Without: "SPDY is used"},
			{
				Resource: "pods/portforward", Verbs: []string{"create"}, Why: "ports of the workspace",
				Without: "they are refused; the rest works",
			},
			{
				Resource: "pods/portforward", Verbs: []string{"get"}, Why: "the same over WebSockets",
				Without: "SPDY is used",
			},
			{
				Resource: "configmaps", Verbs: []string{"get"}, Why: recorded,
				Without: "a stopped one is not told from one whose pod is gone",
			},
			record(),
		}, injected()...),
	}
}

func cp() Command {
	return Command{
		Name:  "cp",
		About: "Copy files to a workspace and from it.",
		Rules: append([]Rule{
			{Resource: "pods", Verbs: []string{"list", "get"}, Why: "the workspace"},
			{Resource: "pods/exec", Verbs: []string{"create"}, Why: "the tar in it"},
			{Resource: "pods/exec", Verbs: []string{"get"}, Why: "the same over WebSockets", Without: "SPDY is used"},
			{
				Resource: "configmaps", Verbs: []string{"get"}, Why: recorded,
				Without: "a stopped one is not told from one whose pod is gone",
			},
			record(),
		}, injected()...),
	}
}

func portForward() Command {
	return Command{
		Name:  "port-forward",
		About: "Make local ports lead to a workspace.",
		Rules: append([]Rule{
			{Resource: "pods", Verbs: []string{"list", "get"}, Why: "the workspace"},
			{
				Resource: "pods", Verbs: []string{"watch"}, Why: "when its pod is replaced",
				Without: "it is asked for every two seconds",
			},
			{Resource: "pods/portforward", Verbs: []string{"create"}, Why: "the connection"},
			{
				Resource: "pods/portforward", Verbs: []string{"get"}, Why: "the same over WebSockets",
				Without: "SPDY is used",
			},
			record(),
		}, injected()...),
	}
}

func logs() Command {
	return Command{
		Name:  "logs",
		About: "Read the logs of a workspace.",
		Rules: append([]Rule{
			{
				Resource: "pods", Verbs: []string{"list", "get", "watch"},
				Why: "the workspace; with --follow, when its containers start",
			},
			{Resource: "pods/log", Verbs: []string{"get"}, Why: "the logs"},
			{
				Resource: "configmaps", Verbs: []string{"get"}, Why: recorded,
				Without: "a stopped one is not told from one whose pod is gone",
			},
			record(),
		}, injected()...),
	}
}

func diagnosis() Command {
	workload := "the workload, if one is diagnosed"
	return Command{
		Name: "diagnose",
		About: "Explain the state of a workspace, a pod or a workload. Of what only some clusters have, the " +
			"Workloads of Kueue, PodGroups, NodeClaims, ResourceClaims and SecretProviderClasses that a pod waits " +
			"for are read, too, where the caller may get them (Workloads: list).",
		Rules: []Rule{
			{Resource: "pods", Verbs: []string{"list", "get"}, Why: "the subject and its pods"},
			{
				Resource: "events", Verbs: []string{"list"}, Why: "what the cluster says about it",
				Without: "the diagnosis says that they could not be read",
			},
			{
				Resource: "persistentvolumeclaims", Verbs: []string{"list"}, Why: "whether storages are there",
				Without: "the diagnosis says that they could not be read",
			},
			logLines(),
			record(),
			{
				Resource: "configmaps", Verbs: []string{"get"}, Why: recorded,
				Without: "a stopped one is not told from one whose pod is gone",
			},
			{Group: groupApps, Resource: "deployments", Verbs: []string{"get"}, Why: workload, Made: true},
			{Group: groupApps, Resource: "statefulsets", Verbs: []string{"get"}, Why: workload, Made: true},
			{Group: groupApps, Resource: "daemonsets", Verbs: []string{"get"}, Why: workload, Made: true},
			{
				Group: groupApps, Resource: "replicasets", Verbs: []string{"get", "list"},
				Why: "those of a Deployment that is diagnosed", Made: true,
			},
			{Group: groupBatch, Resource: "jobs", Verbs: []string{"get"}, Why: workload, Made: true},
		},
	}
}

// jobs is for records in the cluster; those in NATS take the permissions of jobsInNATS.
func jobs() Command {
	return Command{
		Name: "jobs",
		About: "See the jobs of provisionings (also `berth status --history`). Records in NATS take the Role for " +
			"those, and of this one the rule for leases.",
		Rules: []Rule{
			{Resource: "configmaps", Verbs: []string{"get", "list", "watch"}, Why: "the records"},
			{
				Group: groupCoordination, Resource: "leases", Verbs: []string{"list"},
				Why:     "whether somebody still works on a job",
				Without: "a job whose command was killed is told as running for a minute",
			},
			{
				Resource: "configmaps", Verbs: []string{"delete"},
				Why:     "those that waited for NATS, once they are in it",
				Without: "they stay in the cluster as well, and a warning says so",
			},
		},
	}
}
