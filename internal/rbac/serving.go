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
	whole := []string{"get", "list", "watch", "create", "update", "patch", "delete"}
	return Command{
		Name: ServeBundles, Cluster: true,
		About: "Reconcile bundles and bundle instances, and serve content to those who may read it. What instances install takes another ClusterRole, which `berth serve manifests --install-role` binds: nothing is installed without it.",
		Rules: []Rule{
			{Group: groupBundles, Resource: "bundles", Verbs: whole, Why: "the bundles of instances are created, kept and cleaned up"},
			{Group: groupBundles, Resource: "bundles/status", Verbs: []string{"get", "update", "patch"}, Why: "what became of them"},
			{Group: groupBundles, Resource: "bundles/finalizers", Verbs: []string{"update"}, Why: "chunks of uploads belong to their bundle"},
			{Group: groupBundles, Resource: "bundleinstances", Verbs: []string{"get", "list", "watch", "update", "patch"}, Why: "the instances, and what holds them until they are cleaned up"},
			{Group: groupBundles, Resource: "bundleinstances/status", Verbs: []string{"get", "update", "patch"}, Why: "what became of them"},
			{Group: groupBundles, Resource: "bundleinstances/finalizers", Verbs: []string{"update"}, Why: "bundles belong to their instance"},
			{Group: groupAuthentication, Resource: "tokenreviews", Verbs: []string{"create"}, Why: "who asks for content"},
			{Group: groupAuthorization, Resource: "subjectaccessreviews", Verbs: []string{"create"}, Why: "whether they may read it"},
		},
	}
}

func serveBundlesInSystem() Command {
	return Command{
		Name: ServeBundlesInSystem, Feature: true,
		About: "What the server of bundles keeps in its namespace, and reads there.",
		Rules: []Rule{
			{Resource: "secrets", Verbs: []string{"get", "list", "create", "update", "patch", "delete"}, Why: "Helm's records; logins of sources"},
			{Resource: "configmaps", Verbs: []string{"get", "list", "create", "update", "patch", "delete"}, Why: "sources, and chunks of uploads"},
			{Group: groupCoordination, Resource: "leases", Verbs: []string{"get", "create", "update", "delete"}, Why: "one of several servers works; locks"},
		},
	}
}
