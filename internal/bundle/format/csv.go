package format

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
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
