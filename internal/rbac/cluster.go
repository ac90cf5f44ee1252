package rbac

// What no Role in a namespace can give.

func allNamespaces() Command {
	return Command{
		Name: "status --all-namespaces", Cluster: true,
		About: "See the workspaces of all namespaces.",
		Rules: []Rule{
			{Resource: "pods", Verbs: []string{"list", "watch"}, Why: "the workspaces"},
			{Resource: "events", Verbs: []string{"list", "watch"}, Why: "what they wait for"},
		},
	}
}

func impersonation() Command {
	return Command{
		Name: "acting for somebody else", Cluster: true,
		About: "Provision for a user who is not the caller: whoever may impersonate them. resourceNames can limit it to some users.",
		Rules: []Rule{
			{Resource: "users", Verbs: []string{"impersonate"}, Why: "berth asks for the right and does not impersonate"},
		},
	}
}

func namespaceCreation() Command {
	return Command{
		Name: "provision --create-namespace", Cluster: true,
		About: "Make the namespace if it is not there. What is made in it then takes the Role of provision, as a ClusterRole.",
		Rules: []Rule{
			{Resource: "namespaces", Verbs: []string{"get", "create"}, Why: "the namespace"},
			{Resource: "serviceaccounts", Verbs: []string{"get"}, Why: "whether pods can be made in it yet", Without: "that is not waited for"},
		},
	}
}

func checkup() Command {
	skipped := "the check is skipped"
	return Command{
		Name: "doctor", Cluster: true,
		About: "Check the cluster. Every check that the caller may not make is skipped.",
		Rules: []Rule{
			{Resource: "namespaces", Verbs: []string{"get"}, Why: "whether it exists, and its pod security level", Without: skipped},
			{Resource: "nodes", Verbs: []string{"list"}, Why: "whether they are ready, and of which architecture", Without: skipped},
			{Group: groupStorage, Resource: "storageclasses", Verbs: []string{"list"}, Why: "where volumes come from", Without: skipped},
			{Resource: "resourcequotas", Verbs: []string{"list"}, Why: "what is left of them", Without: skipped},
			{Resource: "limitranges", Verbs: []string{"list"}, Why: "what a workspace may ask for", Without: skipped},
			{Resource: "pods", Verbs: []string{"list"}, Why: "workspaces that are installed by halves", Without: skipped},
			{Resource: "configmaps", Verbs: []string{"list"}, Why: "records of jobs that have expired, or wait for NATS", Without: skipped},
			{Group: groupApps, Resource: "daemonsets", Verbs: []string{"list"}, Why: "whether a network plugin runs that enforces network policies", Without: skipped},
			{Resource: "secrets", Verbs: []string{"list"}, Why: "workspaces that are installed by halves", Without: skipped},
			{Group: groupCoordination, Resource: "leases", Verbs: []string{"list"}, Why: "locks that nobody holds any more", Without: skipped},
		},
	}
}
