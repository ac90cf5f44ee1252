package rbac

// The permissions of `berth bundle`.

// The names of the commands about bundles.
const (
	BundleInstall         = "bundle install"
	BundleInstallInSystem = "bundle install, in the system namespace"
	BundleStatus          = "bundle status"
	BundleStatusInSystem  = "bundle status, in the system namespace"
	BundleSources         = "sources of bundles, in the system namespace"
	BundleCauses          = "what keeps pods of bundles from running"
)

// Bundles are the permissions of the commands about bundles. What a bundle contains is not among them: a user has to be
// allowed to create that, too, to install it.
func Bundles() []Command {
	return []Command{
		bundleStatus(), bundleStatusInSystem(), bundleInstall(), bundleInstallInSystem(), bundleSources(),
		bundleCauses(),
	}
}

// readDefinitions is asked for by whatever reads a bundle with custom resources.
func readDefinitions() Rule {
	return Rule{
		Group: groupExtensions, Resource: "customresourcedefinitions", Verbs: []string{"get"},
		Why:     "the fields of custom resources whose definition is not in their bundle",
		Without: "custom resources are not compared before they are written",
	}
}

func bundleStatus() Command {
	return Command{
		Name: BundleStatus, Cluster: true,
		About: "See what is installed (also `berth bundle list`, `berth bundle diff`, `berth bundle history` and " +
			"`berth bundle content`). The objects of a bundle are read, too, which needs permissions for their kinds.",
		Rules: []Rule{
			{Group: groupBundles, Resource: "bundleinstances", Verbs: []string{"get", "list"}, Why: "the instances"},
			{Group: groupBundles, Resource: "bundles", Verbs: []string{"list"}, Why: "their bundles"},
			readDefinitions(),
		},
	}
}

func bundleStatusInSystem() Command {
	return Command{
		Name: BundleStatusInSystem, Feature: true, System: true,
		About: "Their records: a Role in the system namespace.",
		Rules: []Rule{
			{Resource: "secrets", Verbs: []string{"list"}, Why: "Helm's records"},
		},
	}
}

func bundleInstall() Command {
	const older, unseen = "the same where watches do not begin with a list: Kubernetes 1.31 and 1.33",
		"they are not looked for, and stay"
	return Command{
		Name: BundleInstall, Cluster: true,
		About: "Install, upgrade, roll back and uninstall bundles. Anyone who installs a bundle has to be allowed to " +
			"create, read, change and delete its objects, too. `berth bundle reconcile`, which works on all " +
			"instances, needs the permissions of `berth serve bundles`.",
		Rules: []Rule{
			{
				Group: groupBundles, Resource: "bundleinstances", Verbs: []string{"get", "create", "patch", "delete"},
				Why: "the instance",
			},
			{
				Group: groupBundles, Resource: "bundleinstances/status", Verbs: []string{"update"},
				Why: "what became of it",
			},
			{
				Group: groupBundles, Resource: "bundles", Verbs: []string{"list", "create", "delete"},
				Why: "its bundle, and the ones before",
			},
			{Group: groupBundles, Resource: "bundles/status", Verbs: []string{"update"}, Why: "what became of it"},
			readDefinitions(),
			{
				Group: groupExtensions, Resource: "customresourcedefinitions", Verbs: []string{"watch"},
				Why: "definitions that earlier bundles have left, when one is uninstalled", Without: unseen,
			},
			{
				Group: groupExtensions, Resource: "customresourcedefinitions", Verbs: []string{"list"},
				Why: older, Without: unseen,
			},
			{
				Resource: "persistentvolumeclaims", Verbs: []string{"watch"},
				Why: "claims that earlier bundles have left, when one is uninstalled", Without: unseen,
			},
			{Resource: "persistentvolumeclaims", Verbs: []string{"list"}, Why: older, Without: unseen},
		},
	}
}

func bundleInstallInSystem() Command {
	return Command{
		Name: BundleInstallInSystem, Feature: true, System: true,
		About: "Their records: a Role in the system namespace.",
		Rules: []Rule{
			{Resource: "secrets", Verbs: []string{"list", "create", "update", "delete"}, Why: "Helm's records"},
			{Resource: "configmaps", Verbs: []string{"create"}, Why: "what was uploaded"},
			{
				Group: groupCoordination, Resource: "leases", Verbs: []string{"create", "get", "update"},
				Why: "the lock; whether a server reconciles the instances",
			},
			{
				Group: groupCoordination, Resource: "leases", Verbs: []string{"delete"},
				Why:     "the lock, when the work is done",
				Without: "it stays until it expires",
			},
		},
	}
}

func bundleSources() Command {
	return Command{
		Name: BundleSources, Feature: true, System: true,
		About: "Install from ConfigMaps, or with a login that a Secret has (`--source-secret`); resourceNames can " +
			"limit it to them. Have the content of a bundle that was sent from another machine, with " +
			"`berth bundle content`, or to go back to a chart with `berth bundle rollback`.",
		Rules: []Rule{
			{Resource: "configmaps", Verbs: []string{"get"}, Why: "those that are a source, or were sent"},
			{Resource: "secrets", Verbs: []string{"get"}, Why: "the login that is named"},
		},
	}
}

// bundleCauses are what `bundle status` lists, and `bundle install` watches while it waits.
func bundleCauses() Command {
	const silent = "a workload is waited for until it gives up by itself, and its pods are not named"
	return Command{
		Name: BundleCauses, Feature: true,
		About: "See why workloads of a bundle do not get on, with `berth bundle install`, `berth bundle status` and " +
			"`berth bundle list`: a Role where they are. The identity that installs needs it: the ServiceAccount of " +
			"an instance, or the installer of a server. Only what is around workloads that are not ready is read.",
		Rules: []Rule{
			{Resource: "pods", Verbs: []string{"list", "watch"}, Why: "their state", Without: silent},
			{
				Resource: "events", Verbs: []string{"list", "watch"},
				Why:     "what the scheduler and the nodes say of them",
				Without: "a cause is known from their state alone",
			},
			{
				Group: groupApps, Resource: "replicasets", Verbs: []string{"list", "watch"},
				Why:     "which of a Deployment's pods are of its newest revision",
				Without: "its own status has to say that",
			},
			{
				Resource: "persistentvolumeclaims", Verbs: []string{"list", "watch"}, Why: "claims that they wait for",
				Without: "why a claim is not bound is not known",
			},
		},
	}
}
