package rbac

import (
	"slices"

	rbacv1 "k8s.io/api/rbac/v1"
)

// The permissions of a gateway that reports the pool whose machines it serves.
const (
	ServeGatewayReport = "serve gateway, to report a pool"
	ServeGatewayLease  = "serve gateway, the heartbeat of a pool"
)

// namespacePoolLeases is where ironcore looks for the heartbeats of pools.
const namespacePoolLeases = "ironcore-machinepool-lease"

func serveGatewayReport() Command {
	return Command{
		Name: ServeGatewayReport, Feature: true, Cluster: true,
		About: "Report the status of a pool whose only poollet is the gateway (`berth serve gateway --report-pool`). " +
			"resourceNames limit what `berth serve manifests gateway --report-pool` prints to that pool.",
		Rules: []Rule{
			{Group: groupMachines, Resource: "machinepools", Verbs: []string{"get"}, Why: "what is reported already"},
			{
				Group: groupMachines, Resource: "machinepools/status", Verbs: []string{"update"},
				Why: "what it has to be",
			},
			{
				Group: groupMachines, Resource: "machineclasses", Verbs: []string{"get"},
				Why: "whether those that the pool offers exist",
			},
		},
	}
}

func serveGatewayLease() Command {
	return Command{
		Name: ServeGatewayLease, Feature: true, Namespace: namespacePoolLeases,
		About: "Renew the lease of a pool whose only poollet is the gateway (`berth serve gateway --report-pool`): " +
			"a Role in the namespace " + namespacePoolLeases + ", which ironcore has.",
		Rules: []Rule{
			{
				Group: groupCoordination, Resource: "leases", Verbs: []string{"get", "update"},
				Why: "who reports the pool, and that it lives",
			},
			{Group: groupCoordination, Resource: "leases", Verbs: []string{"create"}, Why: "that of a new pool"},
		},
	}
}

// ReportOf are the rules of a gateway that reports a pool, limited to it: in the cluster, and in the namespace of the
// leases. Those to create and to read classes name no object.
func ReportOf(pool string) (cluster []rbacv1.PolicyRule, namespace string, leases []rbacv1.PolicyRule) {
	return limited(serveGatewayReport(), pool), namespacePoolLeases, limited(serveGatewayLease(), pool)
}

func limited(c Command, pool string) (rules []rbacv1.PolicyRule) {
	for _, r := range c.Rules {
		rule := rbacv1.PolicyRule{APIGroups: []string{r.Group}, Resources: []string{r.Resource}, Verbs: r.Verbs}
		if r.Resource != "machineclasses" && !slices.Contains(r.Verbs, "create") {
			rule.ResourceNames = []string{pool}
		}
		rules = append(rules, rule)
	}
	return rules
}
