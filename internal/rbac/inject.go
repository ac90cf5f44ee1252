package rbac

func inject() Command {
	workload := []string{"get", "list", "watch", "patch"}
	whole := []string{"create", "get", "list", "patch", "delete"}
	return Command{
		Name:  Inject,
		About: "Put workspaces into Deployments, StatefulSets and DaemonSets, update them there, and take them out again (`berth delete`). Leave out the kinds that you do not inject into.",
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
