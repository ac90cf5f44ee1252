package operator

import (
	"cmp"
	"encoding/json"
	"slices"

	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/util/validation"
)

// rbacGroup is the group of roles and their bindings.
const rbacGroup = "rbac.authorization.k8s.io"

// accountsAndRoles are the service accounts that the bundle does not have anyway, and what each may do: in the cluster;
// and in the namespaces that the operator watches and in its own, which are all of them if it watches all.
func (r *reading) accountsAndRoles() (objects []map[string]any) {
	spec := r.Spec.Install.Spec
	accounts := map[string]bool{"default": true} // each namespace has that one
	for _, p := range slices.Concat(spec.ClusterPermissions, spec.Permissions) {
		account := p.account()
		if !accounts[account] && !has(r.others, "ServiceAccount", account) {
			objects = append(objects, plainObject("v1", "ServiceAccount", r.namespace, account))
		}
		accounts[account] = true
	}
	g := granting{reading: r, seen: map[[2]string]bool{}}
	for _, p := range spec.ClusterPermissions {
		g.grant("", p.account(), p.Rules)
	}
	for _, p := range spec.Permissions {
		if len(r.watch) == 0 {
			g.grant("", p.account(), append(slices.Clone(p.Rules), namespaces()))
			continue
		}
		for _, namespace := range r.places() {
			g.grant(namespace, p.account(), p.Rules)
		}
	}
	return append(objects, g.objects...)
}

func (p permission) account() string { return cmp.Or(p.ServiceAccountName, "default") }

// namespaces is what an operator of all namespaces may know of them, as it could if it was installed by the Operator
// Lifecycle Manager.
func namespaces() rbacv1.PolicyRule {
	return rbacv1.PolicyRule{
		APIGroups: []string{""}, Resources: []string{"namespaces"}, Verbs: []string{"get", "list", "watch"},
	}
}

// places are the namespace of the operator, and those that it watches.
func (r *reading) places() []string {
	places := []string{r.namespace}
	for _, namespace := range r.watch {
		if namespace != r.namespace {
			places = append(places, namespace)
		}
	}
	return places
}

// granting makes roles and their bindings, each once.
type granting struct {
	*reading
	seen    map[[2]string]bool // by namespace and name
	objects []map[string]any
}

// grant lets a service account do something in a namespace; in the cluster if that is empty.
func (g *granting) grant(namespace, account string, rules []rbacv1.PolicyRule) {
	text := generic(rules)
	name := g.roleName(account, text)
	if g.seen[[2]string{namespace, name}] {
		return
	}
	g.seen[[2]string{namespace, name}] = true
	kind := "ClusterRole"
	if namespace != "" {
		kind = "Role"
	}
	role := plainObject(rbacGroup+"/v1", kind, namespace, name)
	role["rules"] = text
	g.objects = append(g.objects, role, g.binding(kind, name, namespace, name, account))
}

// roleName is the name of a role. Of one version it is always the same, and no two roles of different content have one
// name.
func (g *granting) roleName(account string, rules any) string {
	text, _ := json.Marshal(rules) //nolint:errchkjson // values of JSON
	suffix := "-" + digest(account+string(text))
	return shorten(g.Metadata.Name+"-"+account, validation.DNS1123SubdomainMaxLength-len(suffix)) + suffix
}

// binding gives a role to a service account of the operator: in a namespace, or in the cluster if that is empty.
func (r *reading) binding(roleKind, role, namespace, name, account string) map[string]any {
	kind := "ClusterRoleBinding"
	if namespace != "" {
		kind = "RoleBinding"
	}
	binding := plainObject(rbacGroup+"/v1", kind, namespace, name)
	binding["roleRef"] = map[string]any{"apiGroup": rbacGroup, "kind": roleKind, "name": role}
	binding["subjects"] = []any{map[string]any{"kind": "ServiceAccount", "name": account, "namespace": r.namespace}}
	return binding
}
