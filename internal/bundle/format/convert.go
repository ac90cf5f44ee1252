package format

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"

	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/validation"
	strictjson "sigs.k8s.io/json"
)

// targetNamespaces is the annotation by which an operator knows which namespaces it watches.
// Empty means all.
const targetNamespaces = "olm.targetNamespaces"

// objects are what a ClusterServiceVersion stands for where an operator watches all
// namespaces: what it may do in each of them becomes what it may do in the cluster. Service
// accounts that the bundle has anyway are left out.
func (c *operatorVersion) objects(namespace string, others []*unstructured.Unstructured) (objects []map[string]any) {
	spec := c.Spec.Install.Spec
	// An operator of all namespaces may know them, as it could if it was installed by the
	// Operator Lifecycle Manager.
	namespaces := rbacv1.PolicyRule{
		APIGroups: []string{""}, Resources: []string{"namespaces"},
		Verbs: []string{"get", "list", "watch"},
	}
	permissions := slices.Clone(spec.ClusterPermissions)
	for _, p := range spec.Permissions {
		p.Rules = append(slices.Clone(p.Rules), namespaces)
		permissions = append(permissions, p)
	}
	accounts := map[string]bool{"default": true} // each namespace has that one
	var roles []map[string]any
	seen := map[string]bool{}
	for _, p := range permissions {
		account := cmp.Or(p.ServiceAccountName, "default")
		if !accounts[account] && !has(others, "ServiceAccount", account) {
			objects = append(objects, plainObject("v1", "ServiceAccount", namespace, account))
		}
		accounts[account] = true
		rules := generic(p.Rules)
		name := c.roleName(account, rules)
		if seen[name] {
			continue
		}
		seen[name] = true
		roles = append(roles, clusterRole(name, rules), clusterRoleBinding(name, account, namespace))
	}
	objects = append(objects, roles...)
	for _, d := range spec.Deployments {
		objects = append(objects, c.deployment(d, namespace))
	}
	return objects
}

// roleName is the name of a role. Of one version it is always the same, and no two roles of
// different content have one name.
func (c *operatorVersion) roleName(account string, rules any) string {
	text, _ := json.Marshal(rules) //nolint:errchkjson // values of JSON
	suffix := "-" + digest(account+string(text))
	return shorten(c.Metadata.Name+"-"+account, validation.DNS1123SubdomainMaxLength-len(suffix)) + suffix
}

func clusterRole(name string, rules any) map[string]any {
	role := plainObject("rbac.authorization.k8s.io/v1", "ClusterRole", "", name)
	role["rules"] = rules
	return role
}

func clusterRoleBinding(name, account, namespace string) map[string]any {
	binding := plainObject("rbac.authorization.k8s.io/v1", "ClusterRoleBinding", "", name)
	binding["roleRef"] = map[string]any{"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": name}
	binding["subjects"] = []any{map[string]any{"kind": "ServiceAccount", "name": account, "namespace": namespace}}
	return binding
}

// deployment is one of the operator's, whose pods have the annotations of the
// ClusterServiceVersion and know that they are for all namespaces.
func (c *operatorVersion) deployment(d deployment, namespace string) map[string]any {
	object := plainObject("apps/v1", "Deployment", namespace, d.Name)
	if len(d.Label) > 0 {
		labels := map[string]any{}
		for key, value := range d.Label {
			labels[key] = value
		}
		_ = unstructured.SetNestedMap(object, labels, "metadata", "labels")
	}
	spec := d.Spec
	if spec == nil {
		spec = map[string]any{}
	}
	object["spec"] = spec
	annotations := map[string]any{}
	for key, value := range c.Metadata.Annotations {
		annotations[key] = value
	}
	own, _, _ := unstructured.NestedMap(spec, "template", "metadata", "annotations")
	maps.Copy(annotations, own)
	annotations[targetNamespaces] = ""
	_ = unstructured.SetNestedMap(spec, annotations, "template", "metadata", "annotations")
	return object
}

// generic is a value as it is read from JSON.
func generic(v any) (out any) {
	text, err := json.Marshal(v)
	if err == nil {
		err = strictjson.UnmarshalCaseSensitivePreserveInts(text, &out)
	}
	if err != nil {
		return nil
	}
	return out
}
