package rbac

func stop() Command {
	return Command{
		Name:  Stop,
		About: "Stop workspaces. To start and restart them takes the Role for provision; those in workloads take that for workloads instead.",
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

// recorded is why ConfigMaps are read and written that say the desired state of workspaces.
const recorded = "the desired state of the workspace, where no NATS keeps it"
