package rbac

// The permissions of what runs in the cluster (`berth serve`).

// The names of what is served.
const (
	ServeBundles         = "serve bundles"
	ServeBundlesInSystem = "serve bundles, in the system namespace"
)

const (
	groupBundles        = "core.rukpak.io"
	groupAuthentication = "authentication.k8s.io"
	groupAuthorization  = "authorization.k8s.io"
)

// Serving are the permissions of servers. What a bundle installs is not among them:
// that depends on the bundles, and an administrator chooses it.
func Serving() []Command { return []Command{serveBundles(), serveBundlesInSystem()} }

func serveBundles() Command {
	return Command{
		Name: ServeBundles, Cluster: true,
		About: "Reconcile bundles and bundle instances, and serve content to those who may read it. What instances install takes another ClusterRole, which `berth serve manifests --install-role` binds: nothing is installed without it.",
		Rules: []Rule{
			{Group: groupBundles, Resource: "bundles", Verbs: []string{"get", "list", "watch", "create", "delete"}, Why: "the bundles of instances are created and cleaned up"},
			{Group: groupBundles, Resource: "bundles/status", Verbs: []string{"update"}, Why: "what became of them"},
			{Group: groupBundles, Resource: "bundleinstances", Verbs: []string{"get", "list", "watch"}, Why: "what is wanted"},
			{Group: groupBundles, Resource: "bundleinstances/status", Verbs: []string{"update"}, Why: "what became of it"},
			{Group: groupAuthentication, Resource: "tokenreviews", Verbs: []string{"create"}, Why: "who asks for content"},
			{Group: groupAuthorization, Resource: "subjectaccessreviews", Verbs: []string{"create"}, Why: "whether they may read it"},
		},
	}
}

func serveBundlesInSystem() Command {
	return Command{
		Name: ServeBundlesInSystem, Feature: true, System: true,
		About: "What the server of bundles keeps in its namespace, and reads there.",
		Rules: []Rule{
			{Resource: "secrets", Verbs: []string{"get", "list", "create", "update", "delete"}, Why: "Helm's records; logins of sources"},
			{Resource: "configmaps", Verbs: []string{"get"}, Why: "sources, and chunks of uploads"},
			{Group: groupCoordination, Resource: "leases", Verbs: []string{"get", "create", "update", "delete"}, Why: "one of several servers works; locks"},
		},
	}
}
