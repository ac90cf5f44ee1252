package format

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/validation"
	strictjson "sigs.k8s.io/json"

	"github.com/berthdev/berth/internal/fault"
)

// operatorVersion is what is read of a ClusterServiceVersion.
type operatorVersion struct {
	Metadata struct {
		Name        string            `json:"name"`
		Annotations map[string]string `json:"annotations"`
	} `json:"metadata"`
	Spec struct {
		Version      string        `json:"version"`
		InstallModes []installMode `json:"installModes"`
		Install      struct {
			Strategy string `json:"strategy"`
			Spec     struct {
				Deployments        []deployment `json:"deployments"`
				Permissions        []permission `json:"permissions"`
				ClusterPermissions []permission `json:"clusterPermissions"`
			} `json:"spec"`
		} `json:"install"`
		CRDs        descriptions `json:"customresourcedefinitions"`
		APIServices descriptions `json:"apiservicedefinitions"`
		Webhooks    []webhook    `json:"webhookdefinitions"`
	} `json:"spec"`
}

// installMode says whether an operator can watch some namespaces.
type installMode struct {
	Type      string `json:"type"`
	Supported bool   `json:"supported"`
}

// webhook is one that an operator serves.
type webhook struct {
	Type         string `json:"type"`
	GenerateName string `json:"generateName"`
}

// deployment is a Deployment; its spec is passed on as it is.
type deployment struct {
	Name  string            `json:"name"`
	Label map[string]string `json:"label"`
	Spec  map[string]any    `json:"spec"`
}

// permission is what a service account may do.
type permission struct {
	ServiceAccountName string              `json:"serviceAccountName"`
	Rules              []rbacv1.PolicyRule `json:"rules"`
}

// descriptions are APIs that an operator brings, and those that it takes.
type descriptions struct {
	Owned    []description `json:"owned"`
	Required []description `json:"required"`
}

type description struct {
	Name string `json:"name"`
	Kind string `json:"kind"`
}

// readVersion reads a ClusterServiceVersion.
func readVersion(object *unstructured.Unstructured, file string) (*operatorVersion, []string) {
	c := &operatorVersion{}
	raw, err := json.Marshal(object.Object)
	if err == nil {
		err = strictjson.UnmarshalCaseSensitivePreserveInts(raw, c)
	}
	if err != nil {
		return c, []string{fault.Line(fmt.Sprintf("%s: ClusterServiceVersion %s: %v", file, object.GetName(), err))}
	}
	return c, nil
}

// namespace is where the operator is installed: as it suggests, or as its package is named.
func (c *operatorVersion) namespace(pkg string) (name, problem string) {
	name = c.Metadata.Annotations["operatorframework.io/suggested-namespace"]
	if name == "" {
		name = shorten(strings.ReplaceAll(pkg, ".", "-")+"-system", validation.DNS1123LabelMaxLength)
	}
	if problems := validation.IsDNS1123Label(name); len(problems) > 0 {
		return name, fault.Line(fmt.Sprintf("invalid namespace %q: %s", name, strings.Join(problems, "; ")))
	}
	return name, ""
}

// warnings name what the operator takes and the bundle does not have.
func (c *operatorVersion) warnings(others []*unstructured.Unstructured) (warnings []string) {
	for _, crd := range c.Spec.CRDs.Required {
		warnings = append(warnings, fault.Line("the operator requires the CustomResourceDefinition "+crd.Name+
			", which is not installed with it"))
	}
	for _, crd := range c.Spec.CRDs.Owned {
		if !has(others, "CustomResourceDefinition", crd.Name) {
			warnings = append(warnings, fault.Line("the operator owns the CustomResourceDefinition "+crd.Name+
				", which the bundle does not have"))
		}
	}
	for _, service := range c.Spec.APIServices.Required {
		warnings = append(warnings, fault.Line("the operator requires the API "+cmpName(service.Name, service.Kind)+
			", which is not installed with it"))
	}
	return warnings
}

func cmpName(name, kind string) string { return cmp.Or(name, kind, "without a name") }

// shorten cuts a name to a number of characters, and keeps it apart from others that begin
// the same.
func shorten(name string, most int) string {
	if len(name) <= most {
		return name
	}
	suffix := "-" + digest(name)
	return strings.TrimRight(name[:most-len(suffix)], "-.") + suffix
}

// digest is a short hash of a text, to be a part of a name.
func digest(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:5])
}

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
